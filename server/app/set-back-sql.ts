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

/** Times at which something is due. They were set by service time, and are set back with it. */
const DUE_TIMES = [
  ['deliveries', 'due'],
  ['reports', 'due'],
] as const;

/** Times in the past by service time, which order rows or start a period. */
const PAST_TIMES = [
  ['happenings', 'at'],
  ['webhooks', 'failing_since'],
  ['signing_keys', 'created'],
  ['signing_keys', 'active_from'],
] as const;

/**
 * Sets service time back to the system clock, for an operator whose clock was hours ahead (SPEC K-7).
 * Intervals in the future of the system clock stay as they were served (I-1): streams that have some
 * end, with a last sealing after all of them, so that nothing is ever sealed into these intervals again.
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
        await endAt(tx, JSON.stringify(streams.map(({ id }) => [id])), watermark + 1);
        const last = { after: watermark, interval: watermark + 1, transients: [] };
        const nowMs = intervalStartMs(watermark + 2);
        const { outcome } = await sealInterval.run(tx, { ...last, nowMs });
        if (outcome !== 'sealed') {
          throw new DomainError('conflict', 'a node is running on this database; stop it first');
        }
        await tx.query('update watermark set interval = $1', [intervalAt(systemMs) - 1]);
        for (const [table, column] of DUE_TIMES) {
          await tx.query(`update ${table} set ${column} = ${column} - $1 where ${column} > $2`, [
            aheadMs,
            systemMs,
          ]);
        }
        for (const [table, column] of PAST_TIMES) {
          await tx.query(`update ${table} set ${column} = $1 where ${column} > $1`, [systemMs]);
        }
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
    `select id, title from streams s where status <> 'ENDED' and (status = 'STREAMING' or exists
       (select 1 from sealed_intervals where stream_id = s.id and interval >= $1))
     order by number`,
    [intervalAt(systemMs)],
  );
  const aheadMs = Math.max(0, intervalStartMs(watermark + 1) - systemMs);
  return { watermark, aheadMs, streams: [...streams] };
}

/** Makes the end of streams, of their quizzes and of their rounds due in an interval. */
async function endAt(tx: Tx, ids: string, interval: number): Promise<void> {
  const list = `(select id from ${tx.rows('$1', ['id text'])} ended)`;
  await tx.query(`update streams set ends_at = $2 where id in ${list}`, [
    ids,
    intervalStartMs(interval),
  ]);
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
