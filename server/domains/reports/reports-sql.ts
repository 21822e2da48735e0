import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/rehearsal-filter.ts';
import { type OwnId, type OwnStream, ownStream, type StreamRow } from '../streams/streams-sql.ts';
import type { Progress } from './progress.ts';

/** Lease of a report, renewed each time its progress is saved. */
export const LEASE_MS = 10_000;
/** Beyond this many claims without progress, a report shows as failed until some is saved. */
export const TRIES_MAX = 5;
/** Reports ordered in one transaction, so that it does not delay other commits. */
const ORDER_BATCH_SIZE = 50;
/** Accounts that a claim tries: another node may have locked the only due report of one. */
const CLAIM_ACCOUNTS = 10;

/** A report that one node has leased: no other node makes it until the lease expires. */
export interface ClaimedReport {
  readonly streamId: string;
  readonly account: string;
  readonly lease: string;
  /** Claims since the last progress, this one included. */
  readonly tries: number;
  /** Null before the first progress. */
  readonly progress: Progress | null;
}

/** Where the JSON of a report is stored. */
export interface ReportText {
  readonly parts: number;
  /** Null for a report that an earlier version stored, as one part. */
  readonly made: number | null;
}

export interface ReportRow {
  readonly stream: StreamRow;
  /** Null while it is not ready. */
  readonly text: ReportText | null;
  /** The completed share in [0, 1]. */
  readonly done: number;
  /** Claims since the last progress. */
  readonly tries: number;
}

interface LeasedReport {
  readonly streamId: string;
  readonly lease: string;
}

interface ReportPart {
  readonly part: number;
  /** When the report was made, Unix ms. */
  readonly made: number;
  readonly text: string;
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
        // A node that is making it loses its lease with the row, and stores nothing. The parts stay, unread, until
        // those of the next report replace them: SQLite removes 40 MB in 0.3 s.
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

  /**
   * Orders reports of finished shows, at most `ORDER_BATCH_SIZE`; they are due at once.
   * @returns whether more may be finished
   */
  orderReports: writeProcedure(async (tx, { nowMs }: { nowMs: number }): Promise<boolean> => {
    const over = await tx.query<{ id: string; producer: string }>(
      `select id, producer from streams s where ${IS_OVER} order by ended limit $1 ${tx.locks.claim}`,
      [ORDER_BATCH_SIZE],
    );
    if (over.length === 0) return false;
    const taken = JSON.stringify(over.map(({ id, producer }) => [id, producer]));
    const list = `${tx.rows('$1', ['id text', 'producer text'])} taken`;
    await tx.query(`update streams set reported = 1 where id in (select id from ${list})`, [taken]);
    await tx.query(
      `insert into reports (stream_id, account, due) select id, producer, $2 from ${list} where true
       on conflict (stream_id) do nothing`,
      [taken, nowMs],
    );
    return over.length === ORDER_BATCH_SIZE;
  }),

  /**
   * Leases the report that is due for longest of the next account; null when none is due. By due time alone, 200 long
   * shows of one account delayed the reports of all others by 20 minutes.
   * @param input.after the account of the claim before, '' at first
   */
  claimReport: writeProcedure(
    async (
      tx,
      input: { lease: string; after: string; nowMs: number },
    ): Promise<ClaimedReport | null> => {
      const { lease, after, nowMs } = input;
      const next = await accountsWithDueReports(tx, after, nowMs);
      const first = after === '' ? [] : await accountsWithDueReports(tx, '', nowMs);
      for (const account of new Set([...next, ...first])) {
        const row = await lockDueReport(tx, account, nowMs);
        if (!row) continue;
        const { streamId } = row;
        const tries = row.tries + 1;
        await tx.query('update reports set lease = $2, due = $3, tries = $4 where stream_id = $1', [
          streamId,
          lease,
          nowMs + LEASE_MS,
          tries,
        ]);
        const progress = row.progress && JSON.parse(row.progress);
        return { streamId, account, lease, tries, progress };
      }
      return null;
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

  /** Stores a part of a report, or replaces it. @returns false when the lease is lost; nothing is stored */
  writeReportPart: writeProcedure(async (tx, input: LeasedReport & ReportPart) => {
    const { streamId, lease, part, made, text } = input;
    const [leased] = await tx.query(
      `select 1 from reports where stream_id = $1 and lease = $2 ${tx.locks.update}`,
      [streamId, lease],
    );
    if (!leased) return false;
    await tx.query(
      `insert into report_parts (stream_id, part, made, text) values ($1, $2, $3, $4)
       on conflict (stream_id, part) do update set made = excluded.made, text = excluded.text`,
      [streamId, part, made, text],
    );
    return true;
  }),

  /** Makes a report ready whose parts are stored. @returns false when the lease is lost; nothing changes */
  finishReport: writeProcedure(async (tx, input: LeasedReport & { parts: number }) => {
    const { streamId, lease, parts } = input;
    const { affected } = await tx.query(
      `update reports set parts = $3, done = 1000, due = null, lease = null, progress = null
       where stream_id = $1 and lease = $2`,
      [streamId, lease, parts],
    );
    return affected === 1;
  }),

  /** @throws DomainError `not-found` */
  readReport: readProcedure(async (tx, { streamId, producer }: OwnStream): Promise<ReportRow> => {
    const stream = await ownStream(tx, streamId, producer);
    const [row] = await tx.query<StoredRow>(
      `select done, tries, parts, case when report is null then 0 else 1 end as "isOnePart",
         (select made from report_parts p where p.stream_id = r.stream_id and part = 0) as made
       from reports r where stream_id = $1`,
      [streamId],
    );
    if (!row) return { stream, text: null, done: 0, tries: 0 };
    return { stream, text: textOf(row), done: row.done / 1_000, tries: row.tries };
  }),

  /** A part of the JSON of a report; null when the report was removed or made again. */
  readReportPart: readProcedure(
    async (tx, input: { streamId: string } & Pick<ReportPart, 'part'> & ReportText) => {
      const { streamId, part, made } = input;
      const [row] =
        made === null
          ? await tx.query<{ text: string | null }>(
              'select report as text from reports where stream_id = $1',
              [streamId],
            )
          : await tx.query<{ text: string }>(
              'select text from report_parts where stream_id = $1 and part = $2 and made = $3',
              [streamId, part, made],
            );
      return row?.text ?? null;
    },
  ),
};

/** The next accounts with a due report after one in the order of their ids, by steps in the index. */
async function accountsWithDueReports(tx: Tx, after: string, nowMs: number): Promise<string[]> {
  const rows = await tx.query<{ account: string }>(
    `with recursive waiting(account) as (
       select min(account) from reports where account > $1 and due is not null
       union all
       select (select min(account) from reports where account > waiting.account and due is not null)
       from waiting where waiting.account is not null)
     select account from waiting
     where (select r.due from reports r
       where r.account >= waiting.account and r.account <= waiting.account and r.due is not null
       order by r.account, r.due limit 1) <= $2
     limit $3`,
    [after, nowMs, CLAIM_ACCOUNTS],
  );
  return rows.map(({ account }) => account);
}

/**
 * The report of an account that is due for longest; undefined when other nodes have locked all. The range and the order
 * keep PostgreSQL from the index of all due reports, in which those of an account may follow 10,000 of another.
 */
async function lockDueReport(tx: Tx, account: string, nowMs: number) {
  const [row] = await tx.query<{ streamId: string; tries: number; progress: string | null }>(
    `select stream_id as "streamId", tries, progress from reports
     where account >= $1 and account <= $1 and due <= $2
     order by account, due limit 1 ${tx.locks.claim}`,
    [account, nowMs],
  );
  return row;
}

interface StoredRow {
  readonly done: number;
  readonly tries: number;
  readonly parts: number | null;
  readonly isOnePart: number;
  readonly made: number | null;
}

function textOf({ parts, isOnePart, made }: StoredRow): ReportText | null {
  if (parts !== null) return { parts, made: Number(made) };
  return isOnePart ? { parts: 1, made: null } : null;
}

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
