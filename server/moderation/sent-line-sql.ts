import type { Chats, EventsInterval } from '../../protocol/feed.ts';
import { linesOf } from '../../protocol/history.ts';
import { intervalAt } from '../../protocol/interval.ts';
import { type KeptLine, lineId } from '../../protocol/moderation.ts';
import { Refusal } from '../refusal.ts';
import type { Tx } from '../sql/procedure.ts';

// A line is sealed with the interval it came in or the next; purchases beyond 50 wait for longer.
const INTERVALS_LOOKED_AT = 240;
// Events of the producer's own may look like the line.
const BODIES_LOOKED_AT = 10;

/**
 * The line of a chat as viewers were sent it: nobody puts words into the mouth of another.
 * @param at when it came, which says where to look for it
 * @throws Refusal `not-found`
 */
export async function sentLine(
  tx: Tx,
  streamId: string,
  { id, at }: Pick<KeptLine, 'id' | 'at'>,
): Promise<KeptLine> {
  const none = new Refusal('not-found', 'No such line was sent in this stream.');
  // It is put into a pattern.
  if (!lineId.safeParse(id).success) throw none;
  const first = intervalAt(at);
  const rows = await tx.query<{ body: string }>(
    `select body from sealed_intervals
     where stream_id = $1 and interval between $2 and $3 and body like $4
     order by interval limit $5`,
    [streamId, first, first + INTERVALS_LOOKED_AT, `%{"id":"${id}",%`, BODIES_LOOKED_AT],
  );
  const found = rows.flatMap(({ body }) => linesIn(body)).find((line) => line.id === id);
  if (!found) throw none;
  return found;
}

function linesIn(body: string): KeptLine[] {
  const { events } = JSON.parse(body) as EventsInterval;
  return events
    .filter(({ type }) => type === 'chats')
    .flatMap(({ data }) => linesOf(data as Chats))
    .map(({ id, viewer, name, text, kind, at }) => ({ id, viewer, name, text, kind, at }));
}

/** Which of these lines are hidden. */
export async function hiddenAmong(
  tx: Tx,
  streamId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ line: string }>(
    `select line from hidden_lines where stream_id = $1
     and line in (select id from ${tx.rows('$2', ['id text'])} asked)`,
    [streamId, JSON.stringify(ids.map((id) => [id]))],
  );
  return new Set(rows.map(({ line }) => line));
}
