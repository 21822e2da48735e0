import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/rehearsal-filter.ts';
import { type OwnId, type OwnStream, ownStream, type StreamRow } from '../streams/streams-sql.ts';
import type { Progress, StoredReport } from './progress.ts';

/** Lease of a report, renewed each time its progress is saved. */
export const LEASE_MS = 10_000;
/** Beyond this many claims without progress, a report shows as failed until some is saved. */
export const TRIES_MAX = 5;
/** Reports ordered in one transaction, so that it does not delay other commits. */
const ORDER_BATCH_SIZE = 50;

/** A report that one node has leased: no other node makes it until the lease expires. */
export interface ClaimedReport {
  readonly streamId: string;
  readonly lease: string;
  /** Claims since the last progress, this one included. */
  readonly tries: number;
  /** Null before the first progress. */
  readonly progress: Progress | null;
}

export interface ReportRow {
  readonly stream: StreamRow;
  /** Null while it is not ready. */
  readonly report: StoredReport | null;
  /** The completed share in [0, 1]. */
  readonly done: number;
  /** Claims since the last progress. */
  readonly tries: number;
}

interface LeasedReport {
  readonly streamId: string;
  readonly lease: string;
}

interface ProgressUpdate extends LeasedReport {
  readonly progress: Progress;
  readonly done: number;
  readonly nowMs: number;
}

/** SQL condition: the show is over, its end and all its quizzes, rounds and events are sealed. */
const IS_OVER = `status = 'ENDED' and reported = 0 and ${NO_REHEARSAL}
  and ended < (select (interval + 1) * ${INTERVAL_MS} from watermark)
  and not exists (select 1 from quizzes q where q.stream_id = s.id and q.state = 'open')
  and not exists (select 1 from winners_rounds r where r.stream_id = s.id and r.state = 'open')
  and not exists (select 1 from outbox o where o.stream_id = s.id)`;

export interface ReopenDeps {
  readonly lockOwnStream: (tx: Tx, id: string, producer: string) => Promise<StreamRow>;
  readonly reopenLockedStream: (tx: Tx, stream: StreamRow, nowMs: number) => Promise<StreamRow>;
}

/** Reopening a stream (S-19): its report is made again after its next end (J-2). */
export function createReopenProcedures({ lockOwnStream, reopenLockedStream }: ReopenDeps) {
  return {
    reopenStream: writeProcedure(
      async (tx, input: OwnId & { nowMs: number }): Promise<StreamRow> => {
        const stream = await lockOwnStream(tx, input.id, input.producer);
        const reopened = await reopenLockedStream(tx, stream, input.nowMs);
        // A node that is making it loses its lease with the row, and stores nothing.
        if (reopened !== stream)
          await tx.query('delete from reports where stream_id = $1', [input.id]);
        return reopened;
      },
    ),
  };
}

export const reportProcedures = {
  /** Whether a finished show needs a report ordered (`over`), and whether a report is `due`. */
  findReportWork: readProcedure(
    async (tx, { nowMs }: { nowMs: number }): Promise<{ over: boolean; due: boolean }> => {
      const [row] = await tx.query<{ over: number; due: number }>(
        `select case when exists (select 1 from streams s where ${IS_OVER}) then 1 else 0 end as over,
           case when exists (select 1 from reports where due <= $1) then 1 else 0 end as due`,
        [nowMs],
      );
      return { over: Boolean(row?.over), due: Boolean(row?.due) };
    },
  ),

  /** Orders reports of finished shows, at most `ORDER_BATCH_SIZE`; they are due at once. */
  orderReports: writeProcedure(async (tx, { nowMs }: { nowMs: number }): Promise<void> => {
    const over = await tx.query<{ id: string }>(
      `select id from streams s where ${IS_OVER} order by ended limit $1 ${tx.locks.claim}`,
      [ORDER_BATCH_SIZE],
    );
    if (over.length === 0) return;
    const ids = JSON.stringify(over.map(({ id }) => [id]));
    const list = `${tx.rows('$1', ['id text'])} taken`;
    await tx.query(`update streams set reported = 1 where id in (select id from ${list})`, [ids]);
    await tx.query(
      `insert into reports (stream_id, due) select id, $2 from ${list} where true
       on conflict (stream_id) do nothing`,
      [ids, nowMs],
    );
  }),

  /** Leases the report that is due for longest; null when none is due. */
  claimReport: writeProcedure(
    async (tx, input: { lease: string; nowMs: number }): Promise<ClaimedReport | null> => {
      const [row] = await tx.query<{ streamId: string; tries: number; progress: string | null }>(
        `select stream_id as "streamId", tries, progress from reports
         where due <= $1 order by due limit 1 ${tx.locks.claim}`,
        [input.nowMs],
      );
      if (!row) return null;
      const { streamId } = row;
      const { lease } = input;
      const tries = row.tries + 1;
      await tx.query('update reports set lease = $2, due = $3, tries = $4 where stream_id = $1', [
        streamId,
        lease,
        input.nowMs + LEASE_MS,
        tries,
      ]);
      return { streamId, lease, tries, progress: row.progress && JSON.parse(row.progress) };
    },
  ),

  /** Saves progress and renews the lease. @returns false when the lease is lost; nothing is saved */
  saveReportProgress: writeProcedure((tx, input: ProgressUpdate) =>
    saveProgress(tx, input, input.lease, input.nowMs + LEASE_MS),
  ),

  /** Saves progress and ends the lease: any node can continue at once. */
  releaseReport: writeProcedure(async (tx, input: ProgressUpdate) => {
    await saveProgress(tx, input, null, input.nowMs);
  }),

  /** Ends the lease and postpones the report, with the progress that was last saved. */
  postponeReport: writeProcedure(async (tx, input: LeasedReport & { dueMs: number }) => {
    await tx.query(
      'update reports set lease = null, due = $3 where stream_id = $1 and lease = $2',
      [input.streamId, input.lease, input.dueMs],
    );
  }),

  /** Stores a finished report. @returns false when the lease is lost; nothing is stored */
  finishReport: writeProcedure(async (tx, input: LeasedReport & { report: StoredReport }) => {
    const { affected } = await tx.query(
      `update reports set report = $3, done = 1000, due = null, lease = null, progress = null
       where stream_id = $1 and lease = $2`,
      [input.streamId, input.lease, JSON.stringify(input.report)],
    );
    return affected === 1;
  }),

  /** @throws DomainError `not-found` */
  readReport: readProcedure(async (tx, { streamId, producer }: OwnStream): Promise<ReportRow> => {
    const stream = await ownStream(tx, streamId, producer);
    const [row] = await tx.query<{ report: string | null; done: number; tries: number }>(
      'select report, done, tries from reports where stream_id = $1',
      [streamId],
    );
    const { report = null, done = 0, tries = 0 } = row ?? {};
    return { stream, report: report && JSON.parse(report), done: done / 1_000, tries };
  }),
};

/** Saves progress and resets `tries`, which counts claims without progress. */
async function saveProgress(
  tx: Tx,
  { streamId, lease: currentLease, progress, done }: ProgressUpdate,
  lease: string | null,
  dueMs: number,
): Promise<boolean> {
  const { affected } = await tx.query(
    `update reports set progress = $3, done = $4, tries = 0, lease = $5, due = $6
     where stream_id = $1 and lease = $2`,
    [streamId, currentLease, JSON.stringify(progress), Math.round(done * 1_000), lease, dueMs],
  );
  return affected === 1;
}
