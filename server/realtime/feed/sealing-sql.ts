import { intervalStartMs } from '../../../protocol/interval.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { stallBetweenMs } from '../../platform/lease-clock.ts';
import { type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { countIsDue } from '../presence/view-count-events.ts';
import { type DueRow, type DueWork, SKIPPED_MIN } from './due-work.ts';
import { APPENDED_MAX } from './feed-log-memory.ts';
import { composeInterval, type ResultEvent, type Transient } from './interval-body.ts';
import type { OutboxRow } from './outbox-sql.ts';
import type { SealedBody } from './sealed-sql.ts';
import { ALL_EVENT_BYTES, EVENT_OVERHEAD_BYTES, STREAM_EVENT_BYTES } from './sealing-limits.ts';

export interface Sealing {
  /** The watermark that the caller knows. */
  readonly after: number;
  /** The interval to seal. Intervals between the watermark and this one are sealed empty. */
  readonly interval: number;
  readonly nowMs: number;
  readonly transients: readonly Transient[];
  /** The data set of the seal coordinator; absent with embedded backends, which have none. */
  readonly dataSet?: string;
  /** The timeline of the database that the coordinator knows; absent with embedded backends. */
  readonly timeline?: string;
}

/** Outcome of a sealing; only `sealed` changed the database. */
export type SealOutcome =
  | {
      readonly outcome: 'sealed';
      /** Bodies that are not empty. */
      readonly bodies: readonly SealedBody[];
      /** Why the interval's events are missing in the webhooks' event log; absent on success. */
      readonly eventLogError?: string;
    }
  /** Another node is sealing. */
  | { readonly outcome: 'busy' }
  /** The database has another timeline than the coordinator knows. */
  | { readonly outcome: 'other-timeline'; readonly timeline: string }
  /** Another node has sealed: the watermark is not the one that the caller knows. */
  | {
      readonly outcome: 'conflict';
      readonly watermark: number;
      /** The data set with which it sealed; absent: it named none. */
      readonly dataSet?: string;
    };

export type SealingProcedures = ReturnType<typeof createSealingProcedures>;

/** @param dueWork what the domains do in each sealing, in this order */
export function createSealingProcedures<DomainEvent>(dueWork: readonly DueWork<DomainEvent>[]) {
  return {
    /**
     * Seals an interval of every stream in one transaction: raises the watermark, carries out due
     * work, moves waiting outbox events into bodies and stores them. Only bodies that this returns
     * as sealed may be served. It never waits for locks on streams or quizzes: locked rows stay due, and so
     * does what is beyond the limits of a sealing.
     * A stream that was sealed further before service time was set back (K-7) keeps its stored bodies:
     * its work waits, and its transient parts are dropped.
     */
    sealInterval: writeProcedure(
      async (
        tx,
        { after, interval, nowMs, transients, dataSet, timeline }: Sealing,
      ): Promise<SealOutcome> => {
        if (timeline !== undefined && timeline !== tx.timeline) {
          return { outcome: 'other-timeline', timeline: tx.timeline };
        }
        if (!(await raiseWatermark(tx, after, interval, dataSet))) {
          return notSealed(tx, after, interval);
        }
        // The first sealing of all follows none.
        const skipped = after < 0 ? 0 : interval - after - 1;
        const time = { interval, endMs: intervalStartMs(interval + 1), nowMs, skipped };
        if (skipped >= SKIPPED_MIN) for (const { onSkip } of dueWork) await onSkip?.(tx, time);
        const { outbox, due, sealedBefore } = await findWork(tx, dueWork, after, interval);
        const results: ResultEvent[] = [];
        const domainEvents: DomainEvent[] = [];
        for (const { kind, run } of dueWork) {
          const rows = due.get(kind);
          if (!run || !rows) continue;
          const caused = await run(tx, rows, time);
          results.push(...caused.results);
          domainEvents.push(...caused.domainEvents);
        }
        const sealable = transients.filter(({ streamId }) => !sealedBefore.streams.has(streamId));
        const { bodies, published } = composeBodies(interval, sealable, outbox, results);
        await deleteFromOutbox(tx, published);
        await storeBodies(tx, interval, bodies);
        bodies.push(...sealedBefore.bodies);
        const counts = countsOf(sealable);
        let eventLogError: string | null = null;
        for (const { kind, afterSeal } of dueWork) {
          const rows = due.get(kind) ?? [];
          const report = { ...time, due: rows, published, domainEvents, counts };
          eventLogError = (await afterSeal?.(tx, report)) ?? eventLogError;
        }
        return { outcome: 'sealed', bodies, ...(eventLogError !== null && { eventLogError }) };
      },
      { noDeadline: true },
    ),
  };
}

/**
 * The guard of I1: an interval is sealed once, by a node that knows everything sealed before it.
 * Does not wait when the row is locked: another node is sealing then.
 * @returns whether the watermark moved from `after` to `interval`
 */
export async function raiseWatermark(
  tx: Tx,
  after: number,
  interval: number,
  dataSet: string | null = null,
): Promise<boolean> {
  const { affected } = await tx.query(
    `update watermark set interval = $2, standstill_ms = standstill_ms + $3, sealed_in = $4 where id =
     (select id from watermark where interval = $1 and interval < $2 ${tx.locks.claim})`,
    [after, interval, stallBetweenMs(after, interval), dataSet],
  );
  return affected === 1;
}

async function notSealed(tx: Tx, after: number, interval: number): Promise<SealOutcome> {
  const [row] = await tx.query<{ watermark: number; dataSet: string | null }>(
    'select interval as watermark, sealed_in as "dataSet" from watermark',
  );
  if (!row) throw new Error('the database has no watermark');
  const { watermark, dataSet } = row;
  if (watermark === after && interval > after) return { outcome: 'busy' };
  return { outcome: 'conflict', watermark, ...(dataSet !== null && { dataSet }) };
}

// Kinds of rows that `findWork` reads; all others are those of `DueWork`.
/** `kind` of outbox rows for this interval. */
const OUTBOX = 'event';
/** `kind` of what is stored of streams that were sealed further before service time was set back. */
const SEALED_BEFORE = 'sealed-before';

/** The query's rows; `number` of `SEALED_BEFORE` rows is an interval, null when all of these are empty. */
type WorkRow = OutboxRow & { readonly kind: string };

interface Work {
  readonly outbox: OutboxRow[];
  readonly due: ReadonlyMap<string, readonly DueRow[]>;
  /** Streams that are sealed beyond these intervals, and the bodies that they have in them. */
  readonly sealedBefore: {
    readonly streams: ReadonlySet<string>;
    readonly bodies: readonly SealedBody[];
  };
}

/**
 * SQL: the sizes of the outbox without purchases beyond the first 50 of each stream (C-10). `stream_bytes` adds
 * up the events of a stream to this one, `all_bytes` those of all streams, the first ones of each stream first.
 * Both grow with the number of the event, so what fits is the beginning of each stream's events (F-15).
 */
const WAITING = `waiting as materialized (
  select stream_id, number, bytes, stream_bytes,
    sum(bytes) over (order by stream_bytes, stream_id) as all_bytes
  from (select stream_id, number, bytes,
      sum(bytes) over (partition by stream_id order by number) as stream_bytes
    from (select stream_id, number, type, octet_length(data) + ${EVENT_OVERHEAD_BYTES} as bytes,
        row_number() over (partition by stream_id, type order by number) as place
      from outbox) placed
    where type <> 'purchase' or place <= $1) counted)`;
const FITS = `stream_bytes - bytes < ${STREAM_EVENT_BYTES} and all_bytes - bytes < ${ALL_EVENT_BYTES}`;
/** SQL: the streams with events that do not fit into this interval. */
const BACKLOG = `backlog as materialized (
  select distinct stream_id from waiting where not (${FITS}))`;

/**
 * SQL: a column of a waiting event. As a join, PostgreSQL could read all of `waiting` for each event while its
 * statistics say that the outbox is empty.
 */
const columnOf = (name: string) =>
  `(select o.${name} from outbox o where o.stream_id = waiting.stream_id and o.number = waiting.number)`;

/**
 * Finds the work of this interval with one query. Each part of this query uses an index of due rows only, so
 * idle streams cost nothing. It reads the sizes of the whole outbox, and the events that fit (F-14).
 * Event numbers are assigned under the lock of their stream, so no event can later appear before
 * one that is read here.
 */
async function findWork(
  tx: Tx,
  dueWork: readonly Pick<DueWork<unknown>, 'kind' | 'queries'>[],
  after: number,
  interval: number,
): Promise<Work> {
  const parts = dueWork.flatMap(({ kind, queries }) =>
    queries.map(
      ({ streamId, number, from }) =>
        `union all select '${kind}', ${streamId}, ${number}, '', '' from ${from}`,
    ),
  );
  const rows = await tx.query<WorkRow>(
    `with ${WAITING}, ${BACKLOG}
     select '${OUTBOX}' as kind, stream_id as "streamId", number,
         ${columnOf('type')} as type, ${columnOf('data')} as data
       from waiting where ${FITS}
     union all select '${SEALED_BEFORE}', id, interval, '', body from streams
       left join sealed_intervals on stream_id = id and interval > $5 and interval <= $3
       where sealed_until > $5
     ${parts.join('\n     ')}
     order by 1, 2, 3`,
    [
      CHAT_SAMPLE,
      intervalStartMs(interval + 1),
      interval,
      Number(countIsDue(after + 1, interval)),
      Math.max(after, interval - APPENDED_MAX),
    ],
  );
  const stored = rows.filter(({ kind }) => kind === SEALED_BEFORE);
  const streams = new Set(stored.map(({ streamId }) => streamId));
  const byKind = Map.groupBy(
    streams.size === 0 ? rows : rows.filter(({ streamId }) => !streams.has(streamId)),
    ({ kind }) => kind,
  );
  const bodies = stored
    .filter(({ data }) => data !== null)
    .map(({ streamId, number, data }) => ({ streamId, interval: Number(number), body: data }));
  return { outbox: byKind.get(OUTBOX) ?? [], due: byKind, sealedBefore: { streams, bodies } };
}

function composeBodies(
  interval: number,
  transients: readonly Transient[],
  outbox: readonly OutboxRow[],
  results: readonly ResultEvent[],
): { bodies: SealedBody[]; published: OutboxRow[] } {
  const transientOf = new Map(transients.map((transient) => [transient.streamId, transient]));
  const outboxOf = Map.groupBy(outbox, ({ streamId }) => streamId);
  const resultsOf = Map.groupBy(results, ({ streamId }) => streamId);
  const bodies: SealedBody[] = [];
  const published: OutboxRow[] = [];
  for (const streamId of new Set([
    ...transientOf.keys(),
    ...outboxOf.keys(),
    ...resultsOf.keys(),
  ])) {
    const rows = outboxOf.get(streamId) ?? [];
    const composed = composeInterval(
      interval,
      transientOf.get(streamId) ?? NO_TRANSIENT,
      rows,
      resultsOf.get(streamId),
    );
    const numbers = new Set(composed.publishedNumbers);
    published.push(...rows.filter(({ number }) => numbers.has(number)));
    if (composed.body !== null) bodies.push({ streamId, interval, body: composed.body });
  }
  return { bodies, published };
}

const NO_TRANSIENT = { viewCount: null, chats: null };

function countsOf(transients: readonly Transient[]): Map<string, number> {
  return new Map(transients.map(({ streamId, viewCount }) => [streamId, viewCount?.value ?? 0]));
}

// The guard of I2: events leave the outbox in the transaction that stores them in a body.
async function deleteFromOutbox(tx: Tx, published: readonly OutboxRow[]): Promise<void> {
  if (published.length === 0) return;
  const { affected } = await tx.query(
    `delete from outbox where (stream_id, number) in
     (select stream_id, number from ${tx.rows('$1', ['stream_id text', 'number bigint'])} taken)`,
    [JSON.stringify(published.map(({ streamId, number }) => [streamId, number]))],
  );
  if (affected !== published.length) throw new Error('the outbox changed while sealing');
}

async function storeBodies(tx: Tx, interval: number, bodies: readonly SealedBody[]): Promise<void> {
  if (bodies.length === 0) return;
  await tx.query(
    `insert into sealed_intervals (stream_id, interval, body)
     select stream_id, $2, body from ${tx.rows('$1', ['stream_id text', 'body text'])} sealed`,
    [JSON.stringify(bodies.map(({ streamId, body }) => [streamId, body])), interval],
  );
}
