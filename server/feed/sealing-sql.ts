import { WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import { closeDueQuizzes } from '../quizzes/quizzes-sql.ts';
import { closeDueRounds, startRoundDelay } from '../quizzes/winners-sql.ts';
import { reading, type Tx, writing } from '../sql/procedure.ts';
import { endDueStreams } from '../streams/streams-sql.ts';
import { composeInterval, type Transient } from './interval-body.ts';
import type { OutboxRow } from './outbox-sql.ts';

export interface Sealing {
  /** The interval to seal; those between it and the watermark are sealed with it, empty. */
  readonly interval: number;
  readonly nowMs: number;
  readonly transients: readonly Transient[];
}

/** What became of a sealing. */
export interface Sealed {
  /** The last interval that was sealed before. */
  readonly previous: number;
  /** Bodies of the streams in which something happened; all others are empty. */
  readonly bodies: readonly SealedBody[];
}

/** A stored body of an interval in which something happened. */
export interface SealedBody {
  readonly streamId: string;
  readonly interval: number;
  readonly body: string;
}

// A bound on one transaction; what is beyond waits for the next interval.
const OUTBOX_BATCH = 10_000;

const NOTHING = { viewCount: null, chats: null };

export const sealingProcedures = {
  /**
   * Seals an interval of every stream in one transaction: carries out due work, moves what waits
   * in the outbox into bodies, stores them and raises the watermark. Only what this returns may
   * be served.
   * @throws Error when the interval is sealed already (I1).
   */
  sealInterval: writing(
    async (tx, { interval, nowMs, transients }: Sealing): Promise<Sealed> => {
      const previous = await raiseWatermark(tx, interval);
      await endDueStreams(tx, nowMs);
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
      return { previous, bodies };
    },
    { patient: true },
  ),

  /** The last interval that is sealed; −1 when none ever was. */
  readWatermark: reading((tx) => watermark(tx)),

  /** Stored bodies of all streams between two intervals (inclusive), in order. */
  readSealedOfAll: reading(
    async (tx, { from, to }: { from: number; to: number }): Promise<SealedBody[]> => {
      const rows = await tx.query<SealedBody>(
        `select stream_id as "streamId", interval, body from sealed_intervals
         where interval between $1 and $2 order by interval`,
        [from, to],
      );
      return [...rows];
    },
    { patient: true },
  ),

  /** Stored bodies of a stream from one interval to another (inclusive), at most `limit`. */
  readSealed: reading(
    async (
      tx,
      input: { streamId: string; from: number; to: number; limit: number },
    ): Promise<SealedBody[]> => {
      const rows = await tx.query<SealedBody>(
        `select stream_id as "streamId", interval, body from sealed_intervals
         where stream_id = $1 and interval between $2 and $3 order by interval limit $4`,
        [input.streamId, input.from, input.to, input.limit],
      );
      return [...rows];
    },
  ),
};

// The guard of I1: an interval is sealed once, and never one below what was served.
async function raiseWatermark(tx: Tx, interval: number): Promise<number> {
  const previous = await watermark(tx);
  const { affected } = await tx.query('update watermark set interval = $1 where interval < $1', [
    interval,
  ]);
  if (affected === 0) throw new Error(`interval ${interval} is sealed already`);
  return previous;
}

async function watermark(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ interval: number }>('select interval from watermark');
  return Number(row?.interval ?? -1);
}

async function outboxByStream(tx: Tx): Promise<Map<string, OutboxRow[]>> {
  const rows = await tx.query<OutboxRow>(
    `select stream_id as "streamId", number, type, data from outbox
     order by stream_id, number limit $1`,
    [OUTBOX_BATCH],
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
