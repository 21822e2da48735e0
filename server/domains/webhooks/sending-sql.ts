import type { Attempt } from '../../../protocol/webhooks.ts';
import { countRows } from '../../storage/sql/counters.ts';
import { type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import {
  CONCURRENCY_MAX,
  FAILING_CONCURRENCY_MAX,
  hasFailedLong,
  NODE_ACCOUNT_MAX,
  nextAttemptMs,
  outcomeOf,
} from './schedule.ts';
import type { WebhookSecrets } from './signing.ts';
import { disable } from './webhooks-sql.ts';

/** A delivery that one node has leased: no other node sends it until the lease expires. */
export interface ClaimedDelivery extends WebhookSecrets {
  readonly id: string;
  readonly webhook: string;
  readonly account: string;
  readonly lease: string;
  readonly url: string;
  readonly body: string;
  /** Whether the last attempt to its webhook failed. */
  readonly isFailing: boolean;
}

/** What an attempt did to a delivery. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'failed';

/** Lease of a delivery: covers one attempt and a short database outage. */
export const LEASE_MS = 30_000;
/** The log retains this many latest attempts of each delivery. */
const ATTEMPTS_MAX = 20;

/** What one node asks for. */
export interface ClaimInput {
  readonly lease: string;
  /** The maximum number of deliveries. */
  readonly limit: number;
  /** The maximum number of them for webhooks whose last attempt failed. */
  readonly failingLimit: number;
  /** How many attempts this node makes at the moment, by account (UUID). */
  readonly inFlightByAccount: Readonly<Record<string, number>>;
  readonly nowMs: number;
}

/**
 * SQL: the deliveries of a webhook that are leased at a time (Unix ms), also since an earlier epoch.
 * `coalesce` keeps both databases from the index of waiting deliveries: with 10,000 waiting retries of each of 20
 * webhooks, a claim took longer than a call may.
 */
const leasedOf = (webhook: string, nowMs: string) =>
  `deliveries d where d.webhook = ${webhook} and d.lease is not null
     and coalesce(d.due, 0) > ${nowMs}`;

/**
 * SQL: when the next delivery of the webhook `w` is due; null without one. It reads one entry of the index of
 * waiting deliveries. SQLite made `exists` a join: with more webhooks than `limit` it read all deliveries of
 * a webhook for each due one.
 */
const FIRST_DUE = `(select min(d.due) from deliveries d
   where d.webhook = w.id and d.epoch = w.epoch and d.due is not null)`;

interface DueWebhook extends WebhookSecrets {
  readonly id: string;
  readonly epoch: number;
  readonly account: string;
  readonly url: string;
  readonly failingSince: number | null;
}

export const sendingProcedures = {
  /**
   * Leases due deliveries, the oldest of each webhook first, within the concurrency limits of each webhook and of each
   * account on this node. Skips webhooks that another node has locked.
   */
  claimDeliveries: writeProcedure(async (tx, input: ClaimInput): Promise<ClaimedDelivery[]> => {
    const claimed: ClaimedDelivery[] = [];
    let failingCapacity = input.failingLimit;
    const inFlight = new Map(Object.entries(input.inFlightByAccount));
    for (const webhook of await dueWebhooks(tx, input)) {
      const { account, epoch, failingSince, id, url, secret, oldSecret, oldSecretUntil } = webhook;
      const accountInFlight = inFlight.get(account) ?? 0;
      const isFailing = failingSince !== null;
      const concurrencyMax = isFailing ? FAILING_CONCURRENCY_MAX : CONCURRENCY_MAX;
      // This statement follows the row lock, so it sees leases that other nodes committed meanwhile.
      const capacity = Math.min(
        concurrencyMax - (await countRows(tx, leasedOf('$1', '$2'), [id, input.nowMs])),
        input.limit - claimed.length,
        NODE_ACCOUNT_MAX - accountInFlight,
        isFailing ? failingCapacity : input.limit,
      );
      if (capacity <= 0) continue;
      const due = await tx.query<{ id: string; body: string }>(
        `select id, body from deliveries where webhook = $1 and epoch = $2 and due <= $3
         order by due limit $4`,
        [id, epoch, input.nowMs, capacity],
      );
      if (isFailing) failingCapacity -= due.length;
      inFlight.set(account, accountInFlight + due.length);
      const { lease } = input;
      const common = {
        webhook: id,
        account,
        lease,
        url,
        isFailing,
        secret,
        oldSecret,
        oldSecretUntil,
      };
      claimed.push(...due.map((delivery) => ({ ...delivery, ...common })));
    }
    await leaseDeliveries(tx, claimed, input.lease, input.nowMs + LEASE_MS);
    return claimed;
  }),

  /** Ends the lease of a delivery that was not sent; it is due at once. */
  releaseDelivery: writeProcedure(
    async (tx, { id, lease, nowMs }: { id: string; lease: string; nowMs: number }) => {
      await tx.query('update deliveries set lease = null, due = $3 where id = $1 and lease = $2', [
        id,
        lease,
        nowMs,
      ]);
    },
  ),

  /**
   * Records an attempt, schedules the next one or finishes the delivery, and disables a webhook that
   * is gone or has failed for too long (H-14, H-15).
   * @param input.url where the attempt was sent
   * @param input.jitter in [0, 1)
   * @returns null when this node has lost the lease; then nothing was changed
   */
  finishDelivery: writeProcedure(
    async (
      tx,
      input: Pick<ClaimedDelivery, 'id' | 'webhook' | 'lease' | 'url'> & {
        attempt: Attempt;
        jitter: number;
        nowMs: number;
      },
    ): Promise<DeliveryOutcome | null> => {
      const { id, webhook, lease, attempt, nowMs } = input;
      const [target] = await tx.query<{ url: string; epoch: number; failingSince: number | null }>(
        `select url, epoch, failing_since as "failingSince" from webhooks
         where id = $1 ${tx.locks.update}`,
        [webhook],
      );
      const [delivery] = await tx.query<{ tries: number; attempts: string }>(
        'select tries, attempts from deliveries where id = $1 and lease = $2 and epoch = $3',
        [id, lease, target?.epoch ?? null],
      );
      if (!target || !delivery) return null;
      // What a URL answers that was replaced during the attempt says nothing about the new one.
      const isReplaced = target.url !== input.url;
      const outcome = isReplaced && attempt.status === 410 ? 'failed' : outcomeOf(attempt.status);
      const tries = delivery.tries + 1;
      const due = outcome === 'failed' ? nextAttemptMs(tries, nowMs, input.jitter) : null;
      const sent = outcome === 'delivered' ? 'delivered' : due === null ? 'failed' : 'retried';
      const attempts = [...JSON.parse(delivery.attempts), attempt].slice(-ATTEMPTS_MAX);
      await tx.query(
        `update deliveries set state = $2, due = $3, lease = null, tries = $4, attempts = $5
         where id = $1`,
        [id, sent === 'retried' ? 'pending' : sent, due, tries, JSON.stringify(attempts)],
      );
      if (isReplaced) return sent;
      const failingSince = outcome === 'delivered' ? null : (target.failingSince ?? attempt.at);
      if (failingSince !== target.failingSince) {
        const since = [webhook, failingSince];
        await tx.query('update webhooks set failing_since = $2 where id = $1', since);
      }
      if (outcome === 'gone') await disable(tx, webhook, 'gone');
      // Only with the last attempt of a delivery: after a quiet week one failure says little.
      else if (due === null && failingSince !== null && hasFailedLong(failingSince, nowMs)) {
        await disable(tx, webhook, 'failing');
        return 'failed';
      }
      return sent;
    },
  ),
};

/**
 * Webhooks with due deliveries, of the accounts with the fewest attempts in flight first; of accounts with equally
 * many, failing webhooks last. With failing ones behind all others, two accounts with slow receivers left an
 * account no retry.
 */
async function dueWebhooks(tx: Tx, input: ClaimInput): Promise<DueWebhook[]> {
  const { limit, failingLimit, inFlightByAccount } = input;
  const working = await dueWebhooksOf(tx, input, 'is null', limit);
  const failing =
    failingLimit > 0
      ? await dueWebhooksOf(tx, input, 'is not null', Math.min(limit, failingLimit))
      : [];
  const inFlight = ({ account }: DueWebhook) => inFlightByAccount[account] ?? 0;
  return [...working, ...failing].toSorted((a, b) => inFlight(a) - inFlight(b));
}

/**
 * Enabled webhooks with due deliveries and free concurrency, those of the accounts with the fewest attempts in
 * flight first, then the longest due; none of accounts that use all of their share. By due time alone, two
 * accounts with a backlog and slow receivers took every attempt of the node. Locks them, so that two nodes
 * together never exceed a webhook's concurrency limit.
 * @param failingSince the condition on the time since which a webhook fails
 */
function dueWebhooksOf(
  tx: Tx,
  { inFlightByAccount, nowMs }: ClaimInput,
  failingSince: 'is null' | 'is not null',
  limit: number,
) {
  const concurrencyMax = failingSince === 'is null' ? CONCURRENCY_MAX : FAILING_CONCURRENCY_MAX;
  const inFlight = tx.rows('$3', ['account text', 'attempts integer']);
  const attempts = `coalesce((select attempts from ${inFlight} f where f.account = w.account), 0)`;
  return tx.query<DueWebhook>(
    `select w.id as id, w.account as account, w.epoch as epoch, w.url as url, w.secret as secret,
       w.old_secret as "oldSecret", w.old_secret_until as "oldSecretUntil", w.failing_since as "failingSince"
     from webhooks w
     where w.enabled = 1 and w.failing_since ${failingSince}
       and ${attempts} < ${NODE_ACCOUNT_MAX}
       and ${FIRST_DUE} <= $1
       and (select count(*) from ${leasedOf('w.id', '$1')}) < ${concurrencyMax}
     order by ${attempts}, ${FIRST_DUE}, w.id
     limit $2 ${tx.locks.claim}`,
    [nowMs, limit, JSON.stringify(Object.entries(inFlightByAccount))],
  );
}

async function leaseDeliveries(
  tx: Tx,
  claimed: readonly ClaimedDelivery[],
  lease: string,
  untilMs: number,
): Promise<void> {
  if (claimed.length === 0) return;
  await tx.query(
    `update deliveries set lease = $2, due = $3
     where id in (select id from ${tx.rows('$1', ['id text'])} claimed)`,
    [JSON.stringify(claimed.map(({ id }) => [id])), lease, untilMs],
  );
}
