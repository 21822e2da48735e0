import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/hidden.ts';
import { ownStream, type StreamRow } from '../streams/streams-sql.ts';
import type { KeptReport, Progress } from './progress.ts';

/** For how long a report is a node's to make, from when it last kept how far it is. */
export const LEASE_MS = 10_000;
/** Taken up more often than this without getting on, a report has failed for now. */
export const TRIES_MAX = 5;
// At once, so that no commit waits for long.
const TAKEN_AT_ONCE = 50;

/** A report that one node is to make, and nobody else while its lease lasts. */
export interface ClaimedReport {
  readonly streamId: string;
  readonly lease: string;
  /** How often it was taken up since it last got on, this time too. */
  readonly tries: number;
  /** Null: it is not begun. */
  readonly progress: Progress | null;
}

/** A report as far as it is. */
export interface ReportRow {
  readonly stream: StreamRow;
  /** Null while it is not ready. */
  readonly report: KeptReport | null;
  /** How much of it is made, of 1. */
  readonly done: number;
  /** How often it was taken up since it last got on. */
  readonly tries: number;
}

interface Held {
  readonly streamId: string;
  readonly lease: string;
}
type HowFar = { readonly progress: Progress; readonly done: number };

// All that a show led to is sealed: its end, its quizzes, rounds, and what waited.
const IS_OVER = `status = 'ENDED' and reported = 0 and ${NO_REHEARSAL}
  and ended < (select (interval + 1) * ${INTERVAL_MS} from watermark)
  and not exists (select 1 from quizzes q where q.stream_id = s.id and q.state = 'open')
  and not exists (select 1 from winners_rounds r where r.stream_id = s.id and r.state = 'open')
  and not exists (select 1 from outbox o where o.stream_id = s.id)`;

export const reportProcedures = {
  /** Whether a show is over that has no report yet, and whether one is to be made. */
  findReportWork: reading(
    async (tx, { nowMs }: { nowMs: number }): Promise<{ over: boolean; due: boolean }> => {
      const [row] = await tx.query<{ over: number; due: number }>(
        `select case when exists (select 1 from streams s where ${IS_OVER}) then 1 else 0 end as over,
           case when exists (select 1 from reports where due <= $1) then 1 else 0 end as due`,
        [nowMs],
      );
      return { over: Boolean(row?.over), due: Boolean(row?.due) };
    },
  ),

  /** Has reports made of shows that are over, a bounded number at once. */
  orderReports: writing(async (tx, { nowMs }: { nowMs: number }): Promise<void> => {
    const over = await tx.query<{ id: string }>(
      `select id from streams s where ${IS_OVER} order by ended limit $1 ${tx.locks.claim}`,
      [TAKEN_AT_ONCE],
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

  /** Takes the report that is due for longest; null: none is. */
  claimReport: writing(
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

  /** Keeps how far a report is. @returns false when it is another node's, and nothing was kept */
  keepReport: writing(async (tx, input: Held & HowFar & { nowMs: number }): Promise<boolean> => {
    return keep(tx, input, input.lease, input.nowMs + LEASE_MS);
  }),

  /** Leaves a report to any node, at once and with how far it is. */
  leaveReport: writing(async (tx, input: Held & HowFar & { nowMs: number }): Promise<void> => {
    await keep(tx, input, null, input.nowMs);
  }),

  /** Leaves a report for later, as it was when it last got on. */
  postponeReport: writing(async (tx, input: Held & { dueMs: number }): Promise<void> => {
    await tx.query(
      'update reports set lease = null, due = $3 where stream_id = $1 and lease = $2',
      [input.streamId, input.lease, input.dueMs],
    );
  }),

  /** A report is made. @returns false when it is another node's, and nothing was kept */
  finishReport: writing(async (tx, input: Held & { report: KeptReport }): Promise<boolean> => {
    const { affected } = await tx.query(
      `update reports set report = $3, done = 1000, due = null, lease = null, progress = null
       where stream_id = $1 and lease = $2`,
      [input.streamId, input.lease, JSON.stringify(input.report)],
    );
    return affected === 1;
  }),

  /** @throws Refusal `not-found` */
  readReport: reading(
    async (tx, input: { streamId: string; producer: string }): Promise<ReportRow> => {
      const stream = await ownStream(tx, input.streamId, input.producer);
      const [row] = await tx.query<{ report: string | null; done: number; tries: number }>(
        'select report, done, tries from reports where stream_id = $1',
        [input.streamId],
      );
      const { report = null, done = 0, tries = 0 } = row ?? {};
      return { stream, report: report && JSON.parse(report), done: done / 1_000, tries };
    },
  ),
};

// It got on, so that what went wrong before does not count any more.
async function keep(
  tx: Tx,
  { streamId, lease: held, progress, done }: Held & HowFar,
  lease: string | null,
  dueMs: number,
): Promise<boolean> {
  const { affected } = await tx.query(
    `update reports set progress = $3, done = $4, tries = 0, lease = $5, due = $6
     where stream_id = $1 and lease = $2`,
    [streamId, held, JSON.stringify(progress), Math.round(done * 1_000), lease, dueMs],
  );
  return affected === 1;
}
