import type { Delivery, Webhook } from '../../../protocol/webhooks.ts';
import { Refusal } from '../../platform/errors.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { bodyOf, deliveryIdOf } from './webhook-events.ts';
import { ownWebhook } from './webhooks-sql.ts';

interface Own {
  /** The webhook. */
  readonly id: string;
  readonly account: string;
}

const COLUMNS = `id, type, state, created, due as "nextAttempt", body, attempts`;

type Stored = Omit<Delivery, 'attempts'> & { attempts: string };

const fromRow = (row: Stored): Delivery => ({ ...row, attempts: JSON.parse(row.attempts) });

async function deliveryOf(tx: Tx, webhook: string, id: string): Promise<Delivery> {
  const [row] = await tx.query<Stored>(
    `select ${COLUMNS} from deliveries where id = $1 and webhook = $2`,
    [id, webhook],
  );
  if (!row) throw new Refusal('not-found', 'This webhook has no such delivery.');
  return fromRow(row);
}

function mustBeEnabled({ enabled }: Webhook): void {
  if (!enabled) throw new Refusal('conflict', 'The webhook is disabled; enable it first.');
}

/** Finished deliveries that are kept of each webhook, and for how long. */
const KEPT_MAX = 1_000;
const KEPT_MS = 30 * 24 * 3600_000;
/** Deliveries that may wait for one webhook: what one stream tells in a week. */
const WAITING_MAX = 10_000;
/** Removed at once, so that it never holds up a commit. */
const FORGOTTEN_AT_ONCE = 2_000;

export const deliveryProcedures = {
  /** Puts a test before an enabled webhook. @param input.key what tells it from others */
  testWebhook: writing(
    async (tx, input: Own & { key: string; nowMs: number }): Promise<Delivery> => {
      mustBeEnabled(await ownWebhook(tx, input, tx.locks.update));
      const id = deliveryIdOf(input.id, { type: 'test', key: input.key });
      const body = bodyOf('test', input.nowMs, JSON.stringify({ webhookId: input.id }));
      await tx.query(
        `insert into deliveries (id, webhook, type, body, created, state, due)
         values ($1, $2, 'test', $3, $4, 'pending', $4)`,
        [id, input.id, body, input.nowMs],
      );
      return deliveryOf(tx, input.id, id);
    },
  ),

  /**
   * A page of what a webhook was told, newest first.
   * @param input.before the last delivery of the page before
   * @throws Refusal `not-found`, also of a delivery that is forgotten meanwhile
   */
  listDeliveries: reading(
    async (
      tx,
      input: Own & { before: string | null; limit: number },
    ): Promise<{ results: Delivery[]; next: string | null }> => {
      await ownWebhook(tx, input);
      const from = input.before === null ? null : await deliveryOf(tx, input.id, input.before);
      const rows = await tx.query<Stored>(
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
   * Sends a delivery again, from the beginning of its schedule; one that waits, now.
   * @throws Refusal `not-found`; `conflict` while it is being sent, or its webhook is disabled
   */
  retryDelivery: writing(
    async (tx, input: Own & { delivery: string; nowMs: number }): Promise<Delivery> => {
      const webhook = await ownWebhook(tx, input, tx.locks.update);
      await deliveryOf(tx, input.id, input.delivery);
      mustBeEnabled(webhook);
      const { affected } = await tx.query(
        `update deliveries set state = 'pending', due = $2, lease = null, tries = 0
         where id = $1 and (lease is null or due <= $2)`,
        [input.delivery, input.nowMs],
      );
      if (affected === 0) throw new Refusal('conflict', 'It is being sent right now.');
      return deliveryOf(tx, input.id, input.delivery);
    },
  ),

  /**
   * What may be forgotten, or given up since too much waits: ids, a bounded number of each. Looked
   * for by a reader, which holds up nobody.
   */
  findOldDeliveries: reading(
    async (tx, { nowMs }: { nowMs: number }): Promise<{ old: string[]; beyond: string[] }> => {
      const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
      const old = await tx.query<{ id: string }>(
        `select id from (select id, webhook, created,
           row_number() over (partition by webhook order by created desc, id desc) as place
           from deliveries where due is null) finished
         where place > $1 or created < $2
           or not exists (select 1 from webhooks w where w.id = finished.webhook) limit $3`,
        [KEPT_MAX, nowMs - KEPT_MS, FORGOTTEN_AT_ONCE],
      );
      const beyond = await tx.query<{ id: string }>(
        `select id from (select id, webhook,
           row_number() over (partition by webhook order by created desc, id desc) as place
           from deliveries where due is not null) waiting
         where place > $1
           or not exists (select 1 from webhooks w where w.id = waiting.webhook and w.enabled = 1)
         limit $2`,
        [WAITING_MAX, FORGOTTEN_AT_ONCE],
      );
      return { old: idsOf(old), beyond: idsOf(beyond) };
    },
  ),

  /** Forgets finished deliveries, and gives up others; those that are being sent stay. */
  forgetDeliveries: writing(
    async (tx, { old, beyond }: { old: readonly string[]; beyond: readonly string[] }) => {
      const named = `(select id from ${tx.rows('$1', ['id text'])} named)`;
      const listOf = (ids: readonly string[]) => JSON.stringify(ids.map((id) => [id]));
      if (old.length > 0) {
        await tx.query(`delete from deliveries where due is null and id in ${named}`, [
          listOf(old),
        ]);
      }
      if (beyond.length === 0) return;
      await tx.query(
        `update deliveries set state = 'failed', due = null
         where due is not null and lease is null and id in ${named}`,
        [listOf(beyond)],
      );
    },
  ),
};
