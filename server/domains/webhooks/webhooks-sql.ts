import type { NewWebhook, Webhook, WebhookPatch } from '../../../protocol/webhooks.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { Refusal } from '../../platform/errors.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { OLD_SECRET_MS } from './signing.ts';

// A bound on what one account can make the database keep, and the service send.
const WEBHOOKS_MAX = 20;

const COLUMNS = `id, url, events, enabled, created, failing_since as "failingSince",
  disabled_reason as "disabledReason"`;

type Stored = Omit<Webhook, 'events' | 'enabled'> & { events: string; enabled: number };

const fromRow = (row: Stored): Webhook => ({
  ...row,
  events: JSON.parse(row.events),
  enabled: Boolean(row.enabled),
});

interface Own {
  readonly id: string;
  readonly account: string;
}

/**
 * The webhook, if it is this account's.
 * @param lock every transaction that changes one, or what it is sent, begins with its lock
 * @throws Refusal `not-found`
 */
export async function ownWebhook(tx: Tx, { id, account }: Own, lock = ''): Promise<Webhook> {
  const [row] = await tx.query<Stored>(
    `select ${COLUMNS} from webhooks where id = $1 and account = $2 ${lock}`,
    [id, account],
  );
  if (!row) throw new Refusal('not-found', 'This account has no such webhook.');
  return fromRow(row);
}

/** Makes what sealing looks at say what the webhook wants. */
async function subscribe(tx: Tx, { id, account }: Own, events: readonly string[]): Promise<void> {
  await tx.query('delete from subscriptions where account = $1 and webhook = $2', [account, id]);
  await tx.query(
    `insert into subscriptions (type, account, webhook)
     select type, $2, $3 from ${tx.rows('$1', ['type text'])} wanted`,
    [JSON.stringify(events.map((type) => [type])), account, id],
  );
}

/**
 * Disables a webhook that this transaction has locked: it is told of nothing from now on, and what
 * waits to be sent is given up.
 */
export async function disable(
  tx: Tx,
  id: string,
  reason: NonNullable<Webhook['disabledReason']> | null,
): Promise<void> {
  await tx.query('update webhooks set enabled = 0, disabled_reason = $2 where id = $1', [
    id,
    reason,
  ]);
  await tx.query('delete from subscriptions where webhook = $1', [id]);
  await tx.query(
    `update deliveries set state = 'failed', due = null, lease = null
     where webhook = $1 and due is not null`,
    [id],
  );
}

export const webhookProcedures = {
  /** @throws Refusal `conflict` when the account has as many as it may have */
  createWebhook: writing(
    async (
      tx,
      input: Own & { webhook: NewWebhook; secret: string; nowMs: number },
    ): Promise<{ id: string }> => {
      const { id, account, secret, nowMs } = input;
      const { url, events, enabled } = input.webhook;
      await lockAccount(tx, account);
      const [counted] = await tx.query<{ n: number }>(
        'select count(*) as n from webhooks where account = $1',
        [account],
      );
      if (Number(counted?.n) >= WEBHOOKS_MAX) {
        throw new Refusal('conflict', `An account has at most ${WEBHOOKS_MAX} webhooks.`);
      }
      await tx.query(
        `insert into webhooks (id, number, account, url, events, enabled, secret, created)
         values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [
          id,
          await nextNumber(tx, 'webhook'),
          account,
          url,
          JSON.stringify(events),
          Number(enabled),
          secret,
          nowMs,
        ],
      );
      if (enabled) await subscribe(tx, input, events);
      return { id };
    },
  ),

  listWebhooks: reading(async (tx, { account }: { account: string }): Promise<Webhook[]> => {
    const rows = await tx.query<Stored>(
      `select ${COLUMNS} from webhooks where account = $1 order by number desc`,
      [account],
    );
    return rows.map(fromRow);
  }),

  /** To enable one again also forgets its failures. @throws Refusal `not-found` */
  patchWebhook: writing(async (tx, input: Own & { patch: WebhookPatch }): Promise<Webhook> => {
    const { id, patch } = input;
    const before = await ownWebhook(tx, input, tx.locks.update);
    const { url = before.url, events = before.events, enabled = before.enabled } = patch;
    await tx.query('update webhooks set url = $2, events = $3 where id = $1', [
      id,
      url,
      JSON.stringify(events),
    ]);
    if (patch.enabled) {
      await tx.query(
        `update webhooks set enabled = 1, disabled_reason = null, failing_since = null
         where id = $1`,
        [id],
      );
    }
    if (enabled) await subscribe(tx, input, events);
    else if (before.enabled) await disable(tx, id, null);
    return ownWebhook(tx, input);
  }),

  /** With all that it was sent or waits to be. @throws Refusal `not-found` */
  deleteWebhook: writing(async (tx, input: Own): Promise<void> => {
    await ownWebhook(tx, input, tx.locks.update);
    for (const table of ['subscriptions', 'deliveries']) {
      await tx.query(`delete from ${table} where webhook = $1`, [input.id]);
    }
    await tx.query('delete from webhooks where id = $1', [input.id]);
  }),

  /**
   * Gives the webhook another secret. The one before signs as well for a day (H-10).
   * @param input.rotation names this rotation
   * @returns the rotation that was made: of a repeat, that of the first
   * @throws Refusal `not-found`
   */
  rotateWebhookSecret: writing(
    async (
      tx,
      input: Own & { rotation: string; secret: string; nowMs: number },
    ): Promise<{ rotation: string; webhook: Webhook }> => {
      const webhook = await ownWebhook(tx, input, tx.locks.update);
      await tx.query(
        `update webhooks set old_secret = secret, old_secret_until = $3, secret = $2 where id = $1`,
        [input.id, input.secret, input.nowMs + OLD_SECRET_MS],
      );
      return { rotation: input.rotation, webhook };
    },
  ),
};
