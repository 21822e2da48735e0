import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { DomainError } from '../platform/errors.ts';
import { sealedProcedures } from '../realtime/feed/sealed-sql.ts';
import type { SealingProcedures } from '../realtime/feed/sealing-sql.ts';
import { readProcedure, type Tx, writeProcedure } from '../storage/sql/procedure.ts';

/** What setting service time back would do. */
export interface SetBackPlan {
  /** The newest sealed interval. */
  readonly watermark: number;
  /** How far service time is ahead of the system clock, in ms. */
  readonly aheadMs: number;
  /** Streams that it ends. */
  readonly streams: readonly { readonly id: string; readonly title: string }[];
}

/** A smaller lead is made up within 17 minutes, at 1 % of the time that passes. */
const AHEAD_MIN_MS = 10_000;

/**
 * Columns that hold service time and start or end a period, or order rows: they are set back by the lead
 * in rows where the second name, a column, is in the future. An end is listed with its start, since an
 * end in the future may also be from before.
 */
const TIMES: readonly (readonly [table: string, since: string, columns: readonly string[]])[] = [
  ['deliveries', 'created', ['created']],
  ['deliveries', 'due', ['due']],
  ['happenings', 'at', ['at']],
  ['links', 'created', ['created', 'expires']],
  ['rehearsals', 'seen', ['created', 'seen', 'ended', 'removed']],
  ['reports', 'due', ['due']],
  ['sessions', 'created', ['created', 'seen']],
  ['signing_keys', 'created', ['created', 'active_from', 'retires']],
  ['streams', 'source_seen', ['source_seen', 'source_ends_at']],
  ['webhooks', 'failing_since', ['failing_since']],
];

/**
 * Sets service time back to the system clock, for an operator whose clock was hours ahead (SPEC K-7).
 * Intervals in the future of the system clock stay as they were served (I-1): a stream that has some
 * ends, in a sealing after all of them, and keeps its stored bodies up to there.
 */
export function createSetBackProcedures({ sealInterval }: Pick<SealingProcedures, 'sealInterval'>) {
  return {
    planSetBack: readProcedure((tx, { systemMs }: { systemMs: number }) => planOf(tx, systemMs)),

    /** @throws DomainError `conflict` when service time is not ahead, or a node is running */
    setServiceTimeBack: writeProcedure(
      async (tx, { systemMs }: { systemMs: number }): Promise<SetBackPlan> => {
        const plan = await planOf(tx, systemMs);
        const { watermark, aheadMs, streams } = plan;
        if (aheadMs <= AHEAD_MIN_MS) {
          throw new DomainError('conflict', 'service time is not ahead of the system clock');
        }
        const ids = JSON.stringify(streams.map(({ id }) => [id]));
        await endAt(tx, ids, watermark + 1);
        let last = watermark;
        do {
          const time = { after: last, interval: last + 1, nowMs: intervalStartMs(last + 2) };
          const { outcome } = await sealInterval.run(tx, { ...time, transients: [] });
          if (outcome !== 'sealed') {
            throw new DomainError('conflict', 'a node is running on this database; stop it first');
          }
          last++;
        } while (await isWorkLeft(tx, ids, last));
        await keepSealed(tx, intervalAt(systemMs), last);
        await tx.query('update watermark set interval = $1', [intervalAt(systemMs) - 1]);
        await setTimesBack(tx, systemMs, aheadMs);
        // Redis knows the sealed intervals: with another id of the service its keys are not read again.
        await tx.query("delete from secrets where name = 'service'");
        return plan;
      },
      { noDeadline: true },
    ),
  };
}

async function planOf(tx: Tx, systemMs: number): Promise<SetBackPlan> {
  const watermark = await sealedProcedures.readWatermark.run(tx, {});
  const streams = await tx.query<{ id: string; title: string }>(
    `select id, title from streams where status <> 'ENDED'
       and (status = 'STREAMING' or ${IS_SEALED_FROM_1}) order by number`,
    [intervalAt(systemMs)],
  );
  const aheadMs = Math.max(0, intervalStartMs(watermark + 1) - systemMs);
  return { watermark, aheadMs, streams: [...streams] };
}

/** SQL condition: the stream has a body in the interval of parameter 1, or in a later one. */
const IS_SEALED_FROM_1 = `exists
  (select 1 from sealed_intervals where stream_id = streams.id and interval >= $1)`;

/** Makes the end of streams, of their quizzes and of their rounds due in an interval. */
async function endAt(tx: Tx, ids: string, interval: number): Promise<void> {
  const list = `(select id from ${tx.rows('$1', ['id text'])} ended)`;
  const endsAtMs = intervalStartMs(interval);
  await tx.query(`update streams set ends_at = $2 where id in ${list}`, [ids, endsAtMs]);
  await tx.query(
    `update quizzes set close_interval = $2 where state = 'open' and stream_id in ${list}`,
    [ids, interval],
  );
  await tx.query(
    `update winners_rounds set due_interval = $2
     where state = 'open' and due_interval is not null and stream_id in ${list}`,
    [ids, interval],
  );
}

/** Whether these streams have work that is due, but was beyond the limits of a sealing. */
async function isWorkLeft(tx: Tx, ids: string, interval: number): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from ${tx.rows('$1', ['id text'])} ended where
       exists (select 1 from streams s where s.id = ended.id and s.status <> 'ENDED')
       or exists (select 1 from outbox where stream_id = ended.id)
       or exists (select 1 from quizzes where stream_id = ended.id and state = 'open'
         and close_interval <= $2)
       or exists (select 1 from winners_rounds where stream_id = ended.id and state = 'open'
         and due_interval <= $2) limit 1`,
    [ids, interval],
  );
  return rows.length > 0;
}

/**
 * Streams with bodies from the interval `from` on keep what they have up to `last`. Those that were sealed
 * further before an earlier set-back keep that too.
 */
async function keepSealed(tx: Tx, from: number, last: number): Promise<void> {
  const served = `status = 'ENDED' and ended >= $3 or ${IS_SEALED_FROM_1}`;
  await tx.query(
    `update streams set sealed_until = case when sealed_until > $2 then sealed_until else $2 end
     where ${served}`,
    [from, last, intervalStartMs(from)],
  );
}

async function setTimesBack(tx: Tx, systemMs: number, aheadMs: number): Promise<void> {
  for (const [table, since, columns] of TIMES) {
    const changes = columns.map((column) => `${column} = ${column} - $1`);
    await tx.query(`update ${table} set ${changes.join(', ')} where ${since} > $2`, [
      aheadMs,
      systemMs,
    ]);
  }
}
