import { intervalStartMs } from '../../../protocol/interval.ts';
import { CHAT_SAMPLE, WINNERS_DELAY_INTERVALS } from '../../../protocol/limits.ts';
import type { Quiz } from '../../../protocol/quizzes.ts';
import { closeQuizzes, noteTold } from '../../domains/quizzes/quizzes-sql.ts';
import { closeRounds, startRoundDelays } from '../../domains/quizzes/winners-sql.ts';
import { NO_REHEARSAL } from '../../domains/rehearsals/hidden.ts';
import { endStreams, LEFT_BY_SOURCE } from '../../domains/streams/streams-sql.ts';
import { noteSealed } from '../../domains/webhooks/event-log-sql.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { standstillOf } from '../coordination/lease-clock.ts';
import { countIsDue } from '../presence/view-count-events.ts';
import { composeInterval, type Transient } from './interval-body.ts';
import type { OutboxRow } from './outbox-sql.ts';

export interface Sealing {
  /** The watermark as the caller knows it. */
  readonly after: number;
  /** The interval to seal; those between it and the watermark are sealed with it, empty. */
  readonly interval: number;
  readonly nowMs: number;
  readonly transients: readonly Transient[];
}

/** A stored body of an interval in which something happened. */
export interface SealedBody {
  readonly streamId: string;
  readonly interval: number;
  readonly body: string;
}

/** What became of a sealing; only `sealed` changed anything. */
export type SealOutcome =
  /** Bodies of the streams in which something happened; all others are empty. */
  | {
      readonly outcome: 'sealed';
      readonly bodies: readonly SealedBody[];
      /** Why webhooks are not told of what is in it; only when they are not. */
      readonly untold?: string;
    }
  /** Somebody else is sealing right now. */
  | { readonly outcome: 'busy' }
  /** The watermark is not where the caller thinks: somebody else has sealed. */
  | { readonly outcome: 'behind'; readonly watermark: number };

const NOTHING = { viewCount: null, chats: null };

export const sealingProcedures = {
  /**
   * Seals an interval of every stream in one transaction: carries out due work, moves what waits
   * in the outbox into bodies, stores them and raises the watermark. Only what this returns as
   * sealed may be served. It waits for nobody's work on a stream or quiz: what is locked stays due.
   */
  sealInterval: writing(
    async (tx, { after, interval, nowMs, transients }: Sealing): Promise<SealOutcome> => {
      if (!(await raiseWatermark(tx, after, interval))) return whyNot(tx, after, interval);
      const { events, ends, quizzes, rounds, onAir } = await lookForWork(tx, after, interval);
      const ended = await endStreams(tx, ends, intervalStartMs(interval + 1), nowMs);
      const closed = [await closeQuizzes(tx, quizzes), await closeRounds(tx, rounds)];
      const results = closed.flatMap((one) => one.results);
      const waiting = Map.groupBy(events, ({ streamId }) => streamId);
      const resultsOf = Map.groupBy(results, ({ streamId }) => streamId);
      const partOf = new Map(transients.map((part) => [part.streamId, part]));
      const bodies: SealedBody[] = [];
      const taken: OutboxRow[] = [];
      for (const streamId of new Set([...partOf.keys(), ...waiting.keys(), ...resultsOf.keys()])) {
        const rows = waiting.get(streamId) ?? [];
        const composed = composeInterval(
          interval,
          partOf.get(streamId) ?? NOTHING,
          rows,
          resultsOf.get(streamId),
        );
        const numbers = new Set(composed.taken);
        taken.push(...rows.filter(({ number }) => numbers.has(number)));
        if (composed.body !== null) bodies.push({ streamId, interval, body: composed.body });
      }
      await takeFromOutbox(tx, taken);
      await storeBodies(tx, interval, bodies);
      const published = taken.filter(({ type }) => type === 'quiz');
      const ids = published.map(({ data }) => (JSON.parse(data) as Quiz).id);
      await noteTold(tx, ids, interval);
      const asked = taken.filter(({ type }) => type === 'request-quiz-winners');
      await startRoundDelays(
        tx,
        asked.map(({ streamId }) => streamId),
        interval + WINNERS_DELAY_INTERVALS,
      );
      const happenings = [...ended, ...closed.flatMap((one) => one.happenings)];
      const counts = countsOf(transients);
      const untold = await noteSealed(tx, { interval, nowMs, happenings, onAir, counts });
      return { outcome: 'sealed', bodies, ...(untold !== null && { untold }) };
    },
    { patient: true },
  ),

  /** The last interval that is sealed; −1 when none ever was. */
  readWatermark: reading(async (tx): Promise<number> => {
    const [row] = await tx.query<{ interval: number }>('select interval from watermark');
    return Number(row?.interval ?? -1);
  }),

  /** Stored bodies of all streams between two intervals (inclusive), in order. */
  readSealedOfAll: reading(
    async (tx, { from, to }: { from: number; to: number }): Promise<SealedBody[]> => {
      // By stream, so that each is one look in the index: the feed of years is not read for it.
      const rows = await tx.query<SealedBody>(
        `select stream_id as "streamId", interval, body from sealed_intervals
         where stream_id in (select id from streams) and interval between $1 and $2
         order by interval`,
        [from, to],
      );
      return [...rows];
    },
  ),

  /**
   * Stored bodies of a stream from one interval to another (inclusive), in order, at most `limit`.
   * With `bytesMax` the one that reaches it is the last.
   */
  readSealed: reading(
    async (
      tx,
      input: { streamId: string; from: number; to: number; limit: number; bytesMax?: number },
    ): Promise<SealedBody[]> => {
      const { streamId, from, limit, bytesMax } = input;
      const to = bytesMax === undefined ? input.to : await lastWithin(tx, { ...input, bytesMax });
      const rows = await tx.query<SealedBody>(
        `select stream_id as "streamId", interval, body from sealed_intervals
         where stream_id = $1 and interval between $2 and $3 order by interval limit $4`,
        [streamId, from, to, limit],
      );
      return [...rows];
    },
  ),
};

// Sizes first: bodies that are not sent are not read either.
async function lastWithin(
  tx: Tx,
  page: { streamId: string; from: number; to: number; limit: number; bytesMax: number },
): Promise<number> {
  const rows = await tx.query<{ interval: number; bytes: number }>(
    `select interval, octet_length(body) as bytes from sealed_intervals
     where stream_id = $1 and interval between $2 and $3 order by interval limit $4`,
    [page.streamId, page.from, page.to, page.limit],
  );
  let total = 0;
  for (const { interval, bytes } of rows) {
    total += Number(bytes);
    if (total >= page.bytesMax) return Number(interval);
  }
  return page.to;
}

/**
 * The guard of I1: an interval is sealed once, by one who knows everything that was sealed before.
 * Who finds the row taken does not wait: the intervals are being sealed.
 * @returns whether the watermark was at `after` and is at `interval` now
 */
export async function raiseWatermark(tx: Tx, after: number, interval: number): Promise<boolean> {
  const { affected } = await tx.query(
    `update watermark set interval = $2, standstill_ms = standstill_ms + $3 where id =
     (select id from watermark where interval = $1 and interval < $2 ${tx.locks.claim})`,
    [after, interval, standstillOf(after, interval)],
  );
  return affected === 1;
}

async function whyNot(tx: Tx, after: number, interval: number): Promise<SealOutcome> {
  const watermark = await sealingProcedures.readWatermark.run(tx, {});
  const isDue = watermark === after && interval > after;
  return isDue ? { outcome: 'busy' } : { outcome: 'behind', watermark };
}

interface Work {
  readonly events: OutboxRow[];
  /** Ids of streams, and numbers of quizzes and rounds, whose time has come. */
  readonly ends: string[];
  readonly quizzes: number[];
  readonly rounds: number[];
  /** Streams whose audience webhooks are told of, when this sealing has counts. */
  readonly onAir: string[];
}

interface WorkRow extends OutboxRow {
  readonly kind: 'event' | 'end' | 'quiz' | 'round' | 'on air';
}

/**
 * All that there is to do, by one look. Each part is found by an index that holds nothing else, so
 * streams in which nothing happens cost nothing. Everything that waits in the outbox is taken,
 * except purchases beyond the first 50 (F-14, C-10). Numbers of events are given under the lock of
 * their stream, so that no event can appear before one that is seen here.
 */
async function lookForWork(tx: Tx, after: number, interval: number): Promise<Work> {
  const rows = await tx.query<WorkRow>(
    `select 'event' as kind, stream_id as "streamId", number, type, data from
       (select stream_id, number, type, data,
          row_number() over (partition by stream_id, type order by number) as place
        from outbox) waiting
     where type <> 'purchase' or place <= $1
     union all select 'end', id, 0, '', '' from streams where ends_at is not null and ends_at < $2
     union all select 'end', id, 0, '', '' from streams where ${LEFT_BY_SOURCE}
     union all select 'quiz', stream_id, number, '', '' from quizzes
       where state = 'open' and close_interval <= $3
     union all select 'round', stream_id, number, '', '' from winners_rounds
       where state = 'open' and due_interval <= $3
     union all select 'on air', s.id, 0, '', ''
       from (select distinct account from subscriptions where type = 'audience.minute') w
       join streams s on s.producer = w.account and s.status = 'STREAMING' and s.${NO_REHEARSAL}
       where $4 = 1
     order by 1, 2, 3`,
    [CHAT_SAMPLE, intervalStartMs(interval + 1), interval, Number(countIsDue(after + 1, interval))],
  );
  const of = (wanted: WorkRow['kind']) => rows.filter(({ kind }) => kind === wanted);
  return {
    events: of('event'),
    ends: of('end').map(({ streamId }) => streamId),
    quizzes: of('quiz').map(({ number }) => number),
    rounds: of('round').map(({ number }) => number),
    onAir: of('on air').map(({ streamId }) => streamId),
  };
}

function countsOf(transients: readonly Transient[]): Map<string, number> {
  return new Map(transients.map(({ streamId, viewCount }) => [streamId, viewCount?.value ?? 0]));
}

// The guard of I2: what is in a body leaves the outbox in the same transaction, all of it.
async function takeFromOutbox(tx: Tx, taken: readonly OutboxRow[]): Promise<void> {
  if (taken.length === 0) return;
  const { affected } = await tx.query(
    `delete from outbox where (stream_id, number) in
     (select stream_id, number from ${tx.rows('$1', ['stream_id text', 'number bigint'])} taken)`,
    [JSON.stringify(taken.map(({ streamId, number }) => [streamId, number]))],
  );
  if (affected !== taken.length) throw new Error('the outbox changed while sealing');
}

async function storeBodies(tx: Tx, interval: number, bodies: readonly SealedBody[]): Promise<void> {
  if (bodies.length === 0) return;
  await tx.query(
    `insert into sealed_intervals (stream_id, interval, body)
     select stream_id, $2, body from ${tx.rows('$1', ['stream_id text', 'body text'])} sealed`,
    [JSON.stringify(bodies.map(({ streamId, body }) => [streamId, body])), interval],
  );
}
