import type { NewWebhook, Webhook, WebhookPatch } from '../../../protocol/webhooks.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { DomainError } from '../../platform/errors.ts';
import { countRows, nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { OLD_SECRET_MS } from './signing.ts';

/** Limits what one account can make the database store and the service send. */
const WEBHOOKS_MAX = 20;

const COLUMNS = `id, url, events, enabled, created, failing_since as "failingSince",
  disabled_reason as "disabledReason"`;

type WebhookRow = Omit<Webhook, 'events' | 'enabled'> & { events: string; enabled: number };

const fromRow = (row: WebhookRow): Webhook => ({
  ...row,
  events: JSON.parse(row.events),
  enabled: Boolean(row.enabled),
});

/** A webhook and the account that must own it. */
export interface OwnedWebhook {
  readonly id: string;
  readonly account: string;
}

/**
 * Reads a webhook of the account.
 * @param lock a row lock; every transaction that changes a webhook or its deliveries takes it first
 * @throws DomainError `not-found`
 */
export async function ownWebhook(
  tx: Tx,
  { id, account }: OwnedWebhook,
  lock = '',
): Promise<Webhook> {
  const [row] = await tx.query<WebhookRow>(
    `select ${COLUMNS} from webhooks where id = $1 and account = $2 ${lock}`,
    [id, account],
  );
  if (!row) throw new DomainError('not-found', 'This account has no such webhook.');
  return fromRow(row);
}

/** Replaces the webhook's rows in `subscriptions`, which sealing queries by event type. */
async function subscribe(
  tx: Tx,
  { id, account }: OwnedWebhook,
  events: readonly string[],
): Promise<void> {
  await tx.query('delete from subscriptions where account = $1 and webhook = $2', [account, id]);
  await tx.query(
    `insert into subscriptions (type, account, webhook)
     select type, $2, $3 from ${tx.rows('$1', ['type text'])} wanted`,
    [JSON.stringify(events.map((type) => [type])), account, id],
  );
}

/**
 * Disables a webhook: removes its subscriptions and begins a new epoch, with which its pending deliveries have
 * failed. It writes none of them, since SQLite writes the body again: 10,000 of 19 KB delayed all other commits for
 * 1.8 s. The transaction must hold the webhook's lock.
 */
export async function disable(
  tx: Tx,
  id: string,
  reason: NonNullable<Webhook['disabledReason']> | null,
): Promise<void> {
  await tx.query(
    'update webhooks set enabled = 0, disabled_reason = $2, epoch = epoch + 1 where id = $1',
    [id, reason],
  );
  await tx.query('delete from subscriptions where webhook = $1', [id]);
}

export const webhookProcedures = {
  /** @throws DomainError `conflict` when the account has `WEBHOOKS_MAX` webhooks already */
  createWebhook: writeProcedure(
    async (tx, input: OwnedWebhook & { webhook: NewWebhook; secret: string; nowMs: number }) => {
      const { id, account, secret, nowMs } = input;
      const { url, events, enabled } = input.webhook;
      await lockAccount(tx, account);
      if ((await countRows(tx, 'webhooks where account = $1', [account])) >= WEBHOOKS_MAX) {
        throw new DomainError('conflict', `An account has at most ${WEBHOOKS_MAX} webhooks.`);
      }
      const number = await nextNumber(tx, 'webhook');
      await tx.query(
        `insert into webhooks (id, number, account, url, events, enabled, secret, created)
         values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [id, number, account, url, JSON.stringify(events), Number(enabled), secret, nowMs],
      );
      if (enabled) await subscribe(tx, input, events);
      return { id };
    },
  ),

  listWebhooks: readProcedure(async (tx, { account }: { account: string }) => {
    const rows = await tx.query<WebhookRow>(
      `select ${COLUMNS} from webhooks where account = $1 order by number desc`,
      [account],
    );
    return rows.map(fromRow);
  }),

  /** Enabling a webhook also resets its failure state. @throws DomainError `not-found` */
  patchWebhook: writeProcedure(async (tx, input: OwnedWebhook & { patch: WebhookPatch }) => {
    const { id, patch } = input;
    const before = await ownWebhook(tx, input, tx.locks.update);
    const { url = before.url, events = before.events, enabled = before.enabled } = patch;
    const changed = [id, url, JSON.stringify(events)];
    await tx.query('update webhooks set url = $2, events = $3 where id = $1', changed);
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

  /**
   * Deletes a webhook with its subscriptions. The clean-up deletes its deliveries, which no call returns any more:
   * 1,000 of each of 20 webhooks would delay all other commits for 1.8 s. @throws DomainError `not-found`
   */
  deleteWebhook: writeProcedure(async (tx, input: OwnedWebhook): Promise<void> => {
    await ownWebhook(tx, input, tx.locks.update);
    await tx.query('delete from subscriptions where webhook = $1', [input.id]);
    await tx.query('delete from webhooks where id = $1', [input.id]);
  }),

  /**
   * Replaces the webhook's secret. The previous one also signs for a day (H-10). Another rotation during this
   * day keeps it, and its end: receivers may not know the secret between, whose response may be lost.
   * @param input.rotation unique id of this call
   * @returns `rotation` of the call that took effect: an idempotent repeat gets the first call's
   * @throws DomainError `not-found`
   */
  rotateWebhookSecret: writeProcedure(
    async (tx, input: OwnedWebhook & { rotation: string; secret: string; nowMs: number }) => {
      const webhook = await ownWebhook(tx, input, tx.locks.update);
      // A later end is from before service time was set back (K-7).
      const isKept = 'old_secret_until > $4 and old_secret_until <= $3';
      await tx.query(
        `update webhooks set secret = $2,
           old_secret = case when ${isKept} then old_secret else secret end,
           old_secret_until = case when ${isKept} then old_secret_until else $3 end
         where id = $1`,
        [input.id, input.secret, input.nowMs + OLD_SECRET_MS, input.nowMs],
      );
      return { rotation: input.rotation, webhook };
    },
  ),
};
