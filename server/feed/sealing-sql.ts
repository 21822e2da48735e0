import { CHAT_SAMPLE, WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import { closeDueQuizzes } from '../quizzes/quizzes-sql.ts';
import { closeDueRounds, startRoundDelay } from '../quizzes/winners-sql.ts';
import { reading, type Tx, writing } from '../sql/procedure.ts';
import { endDueStreams } from '../streams/streams-sql.ts';
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

const NOTHING = { viewCount: null, chats: null };

export const sealingProcedures = {
  /**
   * Seals an interval of every stream in one transaction: carries out due work, moves what waits
   * in the outbox into bodies, stores them and raises the watermark. Only what this returns may
   * be served.
   * @returns bodies of the streams in which something happened; all others are empty
   * @throws Error when intervals are sealed that the caller does not know of (I1).
   */
  sealInterval: writing(
    async (tx, { after, interval, nowMs, transients }: Sealing): Promise<SealedBody[]> => {
      await raiseWatermark(tx, after, interval);
      await endDueStreams(tx, interval, nowMs);
      await closeDueQuizzes(tx, interval);
      await closeDueRounds(tx, interval);
      const waiting = await outboxByStream(tx);
      const transientOf = new Map(transients.map((part) => [part.streamId, part]));
      const bodies: SealedBody[] = [];
      for (const streamId of new Set([...transientOf.keys(), ...waiting.keys()])) {
        const rows = waiting.get(streamId) ?? [];
        const part = transientOf.get(streamId) ?? NOTHING;
        const { body, taken } = composeInterval(interval, part, rows);
        if (body === null) continue;
        await takeFromOutbox(tx, streamId, taken);
        await tx.query(
          'insert into sealed_intervals (stream_id, interval, body) values ($1, $2, $3)',
          [streamId, interval, body],
        );
        if (rows.some((row) => row.type === 'request-quiz-winners' && taken.includes(row.number))) {
          await startRoundDelay(tx, streamId, interval + WINNERS_DELAY_INTERVALS);
        }
        bodies.push({ streamId, interval, body });
      }
      return bodies;
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
    { patient: true },
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

// The guard of I1: an interval is sealed once, by one who knows everything that was sealed before.
async function raiseWatermark(tx: Tx, after: number, interval: number): Promise<void> {
  const { affected } = await tx.query(
    'update watermark set interval = $2 where interval = $1 and interval < $2',
    [after, interval],
  );
  if (affected === 0) throw new Error(`intervals after ${after} are sealed already`);
}

// Everything that waits goes into this interval, except purchases beyond the first 50 (F-14, C-10).
async function outboxByStream(tx: Tx): Promise<Map<string, OutboxRow[]>> {
  const rows = await tx.query<OutboxRow>(
    `select stream_id as "streamId", number, type, data from
       (select stream_id, number, type, data,
          row_number() over (partition by stream_id, type order by number) as place
        from outbox) waiting
     where type <> 'purchase' or place <= $1 order by stream_id, number`,
    [CHAT_SAMPLE],
  );
  return Map.groupBy(rows, (row) => row.streamId);
}

// The guard of I2: what is in a body leaves the outbox in the same transaction, all of it.
async function takeFromOutbox(tx: Tx, streamId: string, taken: readonly number[]): Promise<void> {
  if (taken.length === 0) return;
  const { affected } = await tx.query(
    `delete from outbox where stream_id = $1
     and number in (select number from ${tx.rows('$2', ['number bigint'])} taken)`,
    [streamId, JSON.stringify(taken.map((number) => [number]))],
  );
  if (affected !== taken.length) throw new Error(`the outbox of ${streamId} changed while sealing`);
}
