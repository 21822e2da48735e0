import type { Delivery, Webhook } from '../../../protocol/webhooks.ts';
import { DomainError } from '../../platform/errors.ts';
import { countRows } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { deliveryIdOf, webhookBody } from './webhook-events.ts';
import { type OwnedWebhook, ownWebhook } from './webhooks-sql.ts';

/** SQL: the epoch of the webhook of a row of `deliveries`. */
const EPOCH = '(select w.epoch from webhooks w where w.id = deliveries.webhook)';
/** SQL: the same, null unless the webhook is enabled. */
const ENABLED_EPOCH =
  '(select w.epoch from webhooks w where w.id = deliveries.webhook and w.enabled = 1)';
/** SQL condition: the delivery was pending when its webhook was disabled, so it has failed (H-15). */
const IS_STALE = `deliveries.due is not null and deliveries.epoch < ${EPOCH}`;

const COLUMNS = `id, type, case when ${IS_STALE} then 'failed' else state end as state, created,
  case when ${IS_STALE} then null else due end as "nextAttempt", body, attempts`;

type DeliveryRow = Omit<Delivery, 'attempts'> & { attempts: string };

const fromRow = (row: DeliveryRow): Delivery => ({ ...row, attempts: JSON.parse(row.attempts) });

async function deliveryOf(tx: Tx, webhook: string, id: string): Promise<Delivery> {
  const [row] = await tx.query<DeliveryRow>(
    `select ${COLUMNS} from deliveries where id = $1 and webhook = $2`,
    [id, webhook],
  );
  if (!row) throw new DomainError('not-found', 'This webhook has no such delivery.');
  return fromRow(row);
}

function assertEnabled({ enabled }: Webhook): void {
  if (!enabled) throw new DomainError('conflict', 'The webhook is disabled; enable it first.');
}

/** Finished deliveries that the log retains for each webhook, by number and by age. */
const RETAINED_MAX = 1_000;
const RETENTION_MS = 30 * 24 * 3600_000;
/** Deliveries that may be pending for one webhook: about a week of events of one stream. */
const PENDING_MAX = 10_000;
/** Rows removed in one transaction, so that it does not delay other commits: it takes 40 ms. */
const CLEANUP_BATCH_SIZE = 1_000;
/** Deliveries that are marked as failed in one transaction: SQLite writes their bodies again, up to 2 MB. */
const FAILED_BATCH_SIZE = 100;
const AFTER_ALL_EPOCHS = 2 ** 31 - 1;
/** Webhooks searched in one call. PostgreSQL takes 86 ms for one with 9,900 pending deliveries before a vacuum. */
const CLEANUP_WEBHOOKS = 4;

interface OldDeliveries {
  readonly old: readonly string[];
  readonly stale: readonly string[];
  readonly excess: readonly string[];
  readonly after: string | null;
}

interface LoggedWebhook {
  readonly id: string;
  /** Null when the webhook was deleted. */
  readonly enabled: number | null;
  readonly epoch: number | null;
}

/** The next webhooks that have deliveries, by steps in the index instead of a scan of the log. */
const nextWebhooks = (tx: Tx, after: string) =>
  tx.query<LoggedWebhook>(
    `with recursive logged(id) as (
       select min(webhook) from deliveries where webhook > $1
       union all
       select (select min(webhook) from deliveries where webhook > logged.id)
       from logged where logged.id is not null)
     select logged.id, enabled, epoch from logged left join webhooks on webhooks.id = logged.id
     where logged.id is not null limit $2`,
    [after, CLEANUP_WEBHOOKS],
  );

async function oldDeliveriesOf(tx: Tx, { id, enabled }: LoggedWebhook, nowMs: number) {
  const rows = await tx.query<{ id: string }>(
    `select id from (select id from deliveries where webhook = $1 and due is null
       order by created desc, id desc limit $2 offset $3) surplus
     union
     select id from (select id from deliveries where webhook = $1 and due is null and created < $4
       order by created, id limit $2) aged
     limit $2`,
    [id, CLEANUP_BATCH_SIZE, enabled === null ? 0 : RETAINED_MAX, nowMs - RETENTION_MS],
  );
  return rows.map((row) => row.id);
}

/** Pending deliveries of an earlier epoch of the webhook, and all of one that is not enabled. */
async function staleDeliveriesOf(tx: Tx, { id, enabled, epoch }: LoggedWebhook, limit: number) {
  const rows = await tx.query<{ id: string }>(
    'select id from deliveries where webhook = $1 and due is not null and epoch < $2 limit $3',
    [id, enabled === 1 ? epoch : AFTER_ALL_EPOCHS, limit],
  );
  return rows.map((row) => row.id);
}

/**
 * The oldest pending deliveries beyond `PENDING_MAX`. The count stops at the number that matters: counting 200,000
 * took PostgreSQL longer than a call may. It uses the index of pending deliveries. The search goes in the order of
 * creation: `+` keeps both databases from that index, and SQLite from reading 10,000 rows with long bodies.
 */
async function excessDeliveriesOf(tx: Tx, { id, epoch }: LoggedWebhook, limit: number) {
  const current = [id, epoch ?? AFTER_ALL_EPOCHS];
  const pending = await countRows(
    tx,
    `(select 1 from deliveries where webhook = $1 and due is not null and epoch = $2 limit $3) counted`,
    [...current, PENDING_MAX + limit],
  );
  const excess = Math.min(limit, pending - PENDING_MAX);
  if (excess <= 0) return [];
  const rows = await tx.query<{ id: string }>(
    `select id from deliveries where webhook = $1 and +due is not null and +epoch = $2
     order by created, id limit $3`,
    [...current, excess],
  );
  return rows.map((row) => row.id);
}

export const deliveryProcedures = {
  /**
   * Queues a test delivery to an enabled webhook.
   * @param input.key unique among tests of this webhook
   * @throws DomainError `not-found`; `conflict` when the webhook is disabled
   */
  testWebhook: writeProcedure(async (tx, input: OwnedWebhook & { key: string; nowMs: number }) => {
    assertEnabled(await ownWebhook(tx, input, tx.locks.update));
    const id = deliveryIdOf(input.id, { type: 'test', key: input.key });
    const body = webhookBody('test', input.nowMs, JSON.stringify({ webhookId: input.id }));
    await tx.query(
      `insert into deliveries (id, webhook, epoch, type, body, created, state, due)
       values ($1, $2, (select epoch from webhooks where id = $2), 'test', $3, $4, 'pending', $4)`,
      [id, input.id, body, input.nowMs],
    );
    return deliveryOf(tx, input.id, id);
  }),

  /**
   * A page of a webhook's deliveries, newest first.
   * @param input.before id of the last delivery of the previous page; null for the first page
   * @throws DomainError `not-found` for an unknown webhook, or when `before` is no longer in the log
   */
  listDeliveries: readProcedure(
    async (tx, input: OwnedWebhook & { before: string | null; limit: number }) => {
      await ownWebhook(tx, input);
      const from = input.before === null ? null : await deliveryOf(tx, input.id, input.before);
      const rows = await tx.query<DeliveryRow>(
        `select ${COLUMNS} from deliveries
         where webhook = $1 and (created, id) < ($2, $3)
         order by created desc, id desc limit $4`,
        [input.id, from?.created ?? Number.MAX_SAFE_INTEGER, from?.id ?? '', input.limit + 1],
      );
      const results = rows.slice(0, input.limit).map(fromRow);
      const last = results.at(-1);
      return { results, next: rows.length > input.limit && last ? last.id : null };
    },
  ),

  /**
   * Makes a delivery due now and restarts its retry schedule.
   * @throws DomainError `not-found`; `conflict` while it is being sent, or when its webhook is disabled
   */
  retryDelivery: writeProcedure(
    async (tx, input: OwnedWebhook & { delivery: string; nowMs: number }) => {
      const webhook = await ownWebhook(tx, input, tx.locks.update);
      await deliveryOf(tx, input.id, input.delivery);
      assertEnabled(webhook);
      const { affected } = await tx.query(
        `update deliveries set state = 'pending', due = $2, lease = null, tries = 0, epoch = ${EPOCH}
         where id = $1 and (lease is null or due <= $2 or ${IS_STALE})`,
        [input.delivery, input.nowMs],
      );
      if (affected === 0)
        throw new DomainError('conflict', 'The delivery is being sent right now.');
      return deliveryOf(tx, input.id, input.delivery);
    },
  ),

  /**
   * Ids of finished deliveries that exceed the retention limits or have no webhook (`old`), and of
   * pending ones that are `stale` or exceed `PENDING_MAX` (`excess`). Searches a few webhooks, in the order
   * of their ids, so that a call is short however long the log is. A read procedure, so that the search
   * takes no locks.
   * @param input.after the `after` of the call before, '' at first
   * @returns at most about `CLEANUP_BATCH_SIZE` ids of `old`, and `FAILED_BATCH_SIZE` of the others; `after` is
   *   null when all webhooks were searched, and stays the same while a webhook may have more
   */
  findOldDeliveries: readProcedure(
    async (tx, { nowMs, after }: { nowMs: number; after: string }): Promise<OldDeliveries> => {
      const found = { old: [] as string[], stale: [] as string[], excess: [] as string[] };
      const failed = () => found.stale.length + found.excess.length;
      let searched = after;
      const webhooks = await nextWebhooks(tx, after);
      for (const webhook of webhooks) {
        const failedMax = FAILED_BATCH_SIZE - failed();
        const old = await oldDeliveriesOf(tx, webhook, nowMs);
        const stale = await staleDeliveriesOf(tx, webhook, failedMax);
        const excess = await excessDeliveriesOf(tx, webhook, failedMax - stale.length);
        found.old.push(...old);
        found.stale.push(...stale);
        found.excess.push(...excess);
        const mayHaveMore =
          stale.length + excess.length === failedMax || old.length >= CLEANUP_BATCH_SIZE;
        if (mayHaveMore) return { ...found, after: searched };
        searched = webhook.id;
        const isFull = found.old.length >= CLEANUP_BATCH_SIZE;
        if (isFull || failed() >= FAILED_BATCH_SIZE) break;
      }
      return { ...found, after: webhooks.length > 0 ? searched : null };
    },
  ),

  /**
   * Deletes `old` deliveries and marks `stale` and `excess` ones as failed. Excess ones that are leased stay: their
   * attempt ends the lease. Those that were retried meanwhile are not stale any more.
   */
  removeOldDeliveries: writeProcedure(
    async (tx, { old, stale, excess }: Omit<OldDeliveries, 'after'>) => {
      const change = async (ids: readonly string[], statement: string) => {
        if (ids.length === 0) return;
        const listed = `(select id from ${tx.rows('$1', ['id text'])} listed)`;
        await tx.query(`${statement} and id in ${listed}`, [JSON.stringify(ids.map((id) => [id]))]);
      };
      const fail = `update deliveries set state = 'failed', due = null, lease = null where due is not null`;
      await change(old, 'delete from deliveries where due is null');
      await change(stale, `${fail} and epoch < coalesce(${ENABLED_EPOCH}, ${AFTER_ALL_EPOCHS})`);
      await change(excess, `${fail} and lease is null`);
    },
  ),
};
