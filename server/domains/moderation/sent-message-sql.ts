import type { Chats, EventsInterval } from '../../../protocol/feed.ts';
import { type LoggedLine, linesOf, type SentLine } from '../../../protocol/history.ts';
import { intervalAt } from '../../../protocol/interval.ts';
import { type KeptLine, lineId } from '../../../protocol/moderation.ts';
import { Refusal } from '../../platform/errors.ts';
import type { Tx } from '../../storage/sql/procedure.ts';

// An interval is sealed a moment after its end, and has what came by then: a line is in the interval it
// came in, in one before it when sealing is late, or in a later one. Purchases beyond 50 wait for longer.
const INTERVALS_AROUND = 240;
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
  const came = intervalAt(at);
  const rows = await tx.query<{ body: string }>(
    `select body from sealed_intervals
     where stream_id = $1 and interval between $2 and $3 and body like $4
     order by interval limit $5`,
    [
      streamId,
      came - INTERVALS_AROUND,
      came + INTERVALS_AROUND,
      `%{"id":"${id}",%`,
      BODIES_LOOKED_AT,
    ],
  );
  const found = rows
    .flatMap(({ body }) => linesIn(JSON.parse(body)))
    .find((line) => line.id === id);
  if (!found) throw none;
  const { interval: _, ...line } = found;
  return line;
}

/** The lines of the chat in an interval, as viewers were sent them. */
export function linesIn({ interval, events }: EventsInterval): SentLine[] {
  return events
    .filter(({ type }) => type === 'chats')
    .flatMap(({ data }) => linesOf(data as Chats))
    .map((line) => ({ interval, ...line }));
}

/** These lines of a stream, with whether they are hidden. */
export async function marked(
  tx: Tx,
  streamId: string,
  lines: readonly SentLine[],
): Promise<LoggedLine[]> {
  const ids = lines.map(({ id }) => id);
  const hidden = await hiddenAmong(tx, streamId, ids);
  return lines.map((line) => ({ ...line, hidden: hidden.has(line.id) }));
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
