import type { EventsInterval } from '../../../protocol/feed.ts';
import {
  type ChatLog,
  HISTORY_INTERVALS,
  type IntervalCount,
  memberOf,
  type SentLog,
  sentIn,
} from '../../../protocol/history.ts';
import type { LineKind } from '../../../protocol/moderation.ts';
import { reading, type Tx } from '../../storage/sql/procedure.ts';
import { linesIn, marked } from '../moderation/sent-message-sql.ts';
import { ownStream } from '../streams/streams-sql.ts';

/*
 * What viewers were sent is in the sealed intervals and nowhere else, so that it costs sealing
 * nothing. Bodies are told apart by their texts, as they are composed (`composeInterval`): in the
 * texts of viewers each quotation mark has a backslash before it.
 */

interface PageOf {
  readonly streamId: string;
  readonly producer: string;
  /** What was before this interval; null: the newest. */
  readonly before: number | null;
  readonly limit: number;
}

interface Body {
  readonly interval: number;
  readonly body: string;
}

/** The stored intervals that one call looks at. */
interface Stretch {
  readonly from: number;
  readonly before: number;
  /** There is nothing before it. */
  readonly isLast: boolean;
}

// So much is looked at within 50 ms, whatever is in it.
const STRETCH_BYTES = 4 * 1024 * 1024;

// The count is the first event; it and the beginning of the next are no longer than this.
const HEAD = 'substr(body, 1, 160)';
const COUNT = /"value":(\d+)/;

const begins = (type: string) => `'{"interval":' || interval || ',"events":[{"type":"${type}",%'`;
// Where one event ends and the next begins; none of it can be in what viewers wrote.
const NEXT = '}},{"type":"';

// By searches for what is rare in a body: three times as fast as taking away what is not wanted.
const HAS_OWN_EVENT = `case
  when ${HEAD} like ${begins('view-count')} || '${NEXT}chats",%' then body like '%${NEXT}%${NEXT}%'
  when ${HEAD} like ${begins('view-count')} or ${HEAD} like ${begins('chats')}
    then body like '%${NEXT}%'
  else true end`;

const HAS_SOLD = `(body like '%"purchases":[{"id":%'
  or (body like '%"discounts":%' and body not like '%"discounts":0}%'))`;

/** Of one kind, or of any. It is also true for some texts of the producer's own. */
function hasLines(kind: LineKind | null): string {
  return `body like '%${kind === null ? '' : `${memberOf(kind)}":`}[{"id":%'`;
}

export const historyProcedures = {
  /** Events of the producer and of quizzes, and what was sold, newest first. @throws Refusal `not-found` */
  readSentLog: reading(async (tx, page: PageOf): Promise<SentLog> => {
    await ownStream(tx, page.streamId, page.producer);
    const stretch = await stretchOf(tx, page);
    const bodies = await bodiesWith(tx, page, stretch, `${HAS_OWN_EVENT} or ${HAS_SOLD}`);
    return pageOf(page, stretch, bodies, ({ interval, events }) =>
      sentIn(events).map((event) => ({ interval, ...event })),
    );
  }),

  /** Lines of viewers and purchases, newest first. @throws Refusal `not-found` */
  readChatLog: reading(
    async (tx, page: PageOf & { readonly kind: LineKind | null }): Promise<ChatLog> => {
      const { streamId, producer, kind } = page;
      await ownStream(tx, streamId, producer);
      const stretch = await stretchOf(tx, page);
      const bodies = await bodiesWith(tx, page, stretch, hasLines(kind));
      const { results, next } = pageOf(page, stretch, bodies, (body) =>
        linesIn(body).filter((line) => kind === null || line.kind === kind),
      );
      return { results: await marked(tx, streamId, results), next };
    },
  ),

  /** The counts of a stretch of intervals (inclusive), in order. @throws Refusal `not-found` */
  readAudience: reading(
    async (
      tx,
      input: { streamId: string; producer: string; from: number; to: number },
    ): Promise<IntervalCount[]> => {
      const { streamId, producer, from, to } = input;
      await ownStream(tx, streamId, producer);
      const rows = await tx.query<{ interval: number; head: string }>(
        `select interval, ${HEAD} as head from sealed_intervals
         where stream_id = $1 and interval between $2 and $3
           and ${HEAD} like ${begins('view-count')}
         order by interval`,
        [streamId, from, to],
      );
      return rows.map(({ interval, head }) => ({
        interval: Number(interval),
        count: Number(COUNT.exec(head)?.[1]),
      }));
    },
  ),
};

// Sizes first: what is not looked at is not read either.
async function stretchOf(tx: Tx, { streamId, before }: PageOf): Promise<Stretch> {
  const end = before ?? Number.MAX_SAFE_INTEGER;
  const rows = await tx.query<{ interval: number; bytes: number }>(
    `select interval, octet_length(body) as bytes from sealed_intervals
     where stream_id = $1 and interval < $2 order by interval desc limit $3`,
    [streamId, end, HISTORY_INTERVALS],
  );
  let from = end;
  let total = 0;
  for (const { interval, bytes } of rows) {
    from = Number(interval);
    total += Number(bytes);
    if (total >= STRETCH_BYTES) return { from, before: end, isLast: false };
  }
  return { from, before: end, isLast: rows.length < HISTORY_INTERVALS };
}

/**
 * The newest first; as many as can fill the page, since each has at least one element of it. In
 * PostgreSQL bodies are packed, and a condition would unpack one for each time it looks at it.
 */
function bodiesWith(
  tx: Tx,
  { streamId, limit }: PageOf,
  { from, before }: Stretch,
  condition: string,
): Promise<readonly Body[]> {
  return tx.query<Body>(
    `select interval, body from
       (select interval, body || '' as body from sealed_intervals
        where stream_id = $1 and interval >= $2 and interval < $3
        order by interval desc limit $4) unpacked
     where ${condition} order by interval desc limit $5`,
    [streamId, from, before, HISTORY_INTERVALS, limit],
  );
}

/** A page of whole intervals: it ends with the one that fills it. */
function pageOf<Element>(
  { limit }: PageOf,
  { from, isLast }: Stretch,
  bodies: readonly Body[],
  elementsOf: (body: EventsInterval) => Element[],
): { results: Element[]; next: number | null } {
  const results: Element[] = [];
  for (const { interval, body } of bodies) {
    results.push(...elementsOf(JSON.parse(body)).reverse());
    if (results.length >= limit) return { results, next: Number(interval) };
  }
  // A text of the producer's own may look as if it had lines: then there are more bodies.
  const last = bodies.length < limit ? undefined : bodies.at(-1);
  if (last) return { results, next: Number(last.interval) };
  return { results, next: isLast ? null : from };
}
