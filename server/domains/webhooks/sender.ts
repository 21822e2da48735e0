import type { Logger } from 'pino';
import type { Attempt } from '../../../protocol/webhooks.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { MetricDefinition } from '../../platform/metrics.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { deliveryProcedures } from './deliveries-sql.ts';
import type { dispatchProcedures } from './dispatch-sql.ts';
import type { Post, PostResult } from './post.ts';
import {
  ACCOUNT_TURN_MS,
  NODE_ACCOUNT_MAX,
  NODE_CONCURRENCY_MAX,
  NODE_FAILING_MAX,
} from './schedule.ts';
import {
  type ClaimedDelivery,
  type DeliveryOutcome,
  LEASE_MS,
  type sendingProcedures,
} from './sending-sql.ts';
import { activeSecrets, signedHeaders } from './signing.ts';

export interface SenderOptions {
  readonly store: Calls<typeof dispatchProcedures> &
    Calls<typeof sendingProcedures> &
    Pick<Calls<typeof deliveryProcedures>, 'findOldDeliveries' | 'removeOldDeliveries'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Null on a node that only dispatches events and leaves sending to others. */
  readonly post: Post | null;
  readonly newId: () => string;
  /** Returns a number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  /** Waits before another try to record an attempt (default 1 s). */
  readonly pause?: () => Promise<void>;
  /** How long `stop` waits for open attempts before it aborts them (default 3 s). */
  readonly drainMs?: number;
}

const POLL_MS = 1_000;
const CLEANUP_MS = 60_000;
const DRAIN_MS = 3_000;
/** While the database is unavailable, every 20th failure in a row is logged. */
const LOG_EVERY = 20;

/**
 * Dispatches logged events and sends due deliveries (SPEC H). Any number of nodes run one on the same
 * database: leases keep them from sending a delivery twice.
 */
export class WebhookSender {
  private readonly inFlight = new Set<Promise<void>>();
  private failingInFlight = 0;
  /** The attempts of each account in flight. */
  private readonly attempts = new Map<string, number>();
  /** These, and those that ended and whose turn has not. */
  private readonly places = new Map<string, number>();
  private readonly outcomes = new Map<DeliveryOutcome, number>();
  /** Failures in a row, by what failed. */
  private readonly failures = new Map<string, number>();
  private readonly stopping = new AbortController();
  private stopped = false;
  private claiming: Promise<void> | null = null;
  private cleaning: Promise<void> | null = null;
  /** Set when `send` was called after the current claim began to read the database. */
  private claimAgain = false;
  /** Of deliveries that have ended. */
  private readonly turns = new Set<Promise<void>>();
  /** The account whose turn in dispatches was the last. */
  private dispatchedAccount = '';
  /** Where the clean-up continues, also after an error. */
  private cleanedWebhook = '';
  private timers: Timer[] = [];

  constructor(private readonly options: SenderOptions) {}

  /** Starts to poll for due deliveries. */
  start(): void {
    this.timers = [
      runtime.setInterval(() => void this.send(), POLL_MS),
      runtime.setInterval(() => void this.cleanUp(), CLEANUP_MS),
    ];
  }

  /** Dispatches logged events and starts due deliveries; resolves when they are claimed. */
  send(): Promise<void> {
    this.claimAgain = true;
    this.claiming ??= this.claimAll().finally(() => {
      this.claiming = null;
    });
    return this.claiming;
  }

  /** Sends everything due now and resolves when it is sent; for tests with a manual clock. */
  async sendAll(): Promise<void> {
    await this.send();
    while (this.inFlight.size + this.turns.size > 0)
      await Promise.all([...this.inFlight, ...this.turns]);
  }

  /**
   * Removes finished deliveries beyond the retention limits, fails excess pending ones and removes excess
   * events, in batches until none is left. A call during another one waits for that one.
   */
  cleanUp(): Promise<void> {
    this.cleaning ??= this.cleanUpAll().finally(() => {
      this.cleaning = null;
    });
    return this.cleaning;
  }

  /** Claims no more, waits `drainMs` for open attempts, then aborts and releases the rest. */
  async stop(): Promise<void> {
    for (const timer of this.timers) runtime.clearTimer(timer);
    const abortTimer = runtime.setTimeout(
      () => this.stopping.abort(),
      this.options.drainMs ?? DRAIN_MS,
    );
    this.stopped = true;
    await this.claiming;
    await this.cleaning;
    await Promise.all(this.inFlight);
    runtime.clearTimer(abortTimer);
  }

  readonly metrics: readonly MetricDefinition[] = [
    {
      kind: 'counter',
      // No label for the webhook or its account: a URL may contain a secret.
      name: 'fourbeat_webhook_deliveries_total',
      help: 'Webhook delivery attempts by outcome.',
      labelNames: ['outcome'],
      read: () => [...this.outcomes].map(([outcome, count]) => [count, { outcome }] as const),
    },
  ];

  private async cleanUpAll(): Promise<void> {
    await this.attempt('webhook deliveries cannot be cleaned up', () => this.cleanUpDeliveries());
    await this.attempt('webhook events cannot be cleaned up', () => this.cleanUpEvents());
  }

  private async cleanUpEvents(): Promise<void> {
    let removed = 0;
    try {
      for (let after: string | null = ''; after !== null && !this.stopped; ) {
        const trimmed = await this.options.store.trimEventLog({ after });
        removed += trimmed.removed;
        after = trimmed.after;
      }
    } finally {
      const text = 'too many webhook events wait; the oldest were removed';
      if (removed > 0) this.options.logger.warn({ removed }, text);
    }
  }

  private async cleanUpDeliveries(): Promise<void> {
    const { store, clock } = this.options;
    for (let isLeft = true; isLeft && !this.stopped; ) {
      const { after, ...found } = await store.findOldDeliveries({
        nowMs: clock.nowMs(),
        after: this.cleanedWebhook,
      });
      if (Object.values(found).some((ids) => ids.length > 0))
        await store.removeOldDeliveries(found);
      this.cleanedWebhook = after ?? '';
      isLeft = after !== null;
    }
  }

  private async claimAll(): Promise<void> {
    while (this.claimAgain) {
      this.claimAgain = false;
      await this.claim();
    }
  }

  private async claim(): Promise<void> {
    const { store, clock, post } = this.options;
    if (this.stopped) return;
    const work = await this.attempt('webhook deliveries cannot be read', () =>
      store.findWebhookWork({ nowMs: clock.nowMs() }),
    );
    if (work === null) return;
    // A claim follows each dispatch, so that a long log of events of one account does not delay the deliveries
    // of others. A failed dispatch is tried again with the next poll.
    const isMoreLogged =
      work.undispatched &&
      (await this.attempt('webhook events cannot be dispatched', () => this.dispatch()));
    if (isMoreLogged) this.claimAgain = true;
    if (post === null || !(work.due || work.undispatched)) return;
    await this.attempt('webhook deliveries cannot be claimed', () => this.startDeliveries(post));
  }

  /** @returns whether more events may be waiting */
  private async dispatch(): Promise<boolean> {
    const { hasMore, after } = await this.options.store.dispatchWebhookEvents({
      after: this.dispatchedAccount,
    });
    this.dispatchedAccount = after;
    return hasMore;
  }

  private async startDeliveries(post: Post): Promise<void> {
    const { store, clock, newId } = this.options;
    const limit = NODE_CONCURRENCY_MAX - this.inFlight.size;
    if (limit === 0) return;
    const claimed = await store.claimDeliveries({
      lease: newId(),
      limit,
      failingLimit: NODE_FAILING_MAX - this.failingInFlight,
      // Not all: the query takes longer with each account.
      inFlightByAccount: Object.fromEntries(
        [...this.places].filter(
          ([account, count]) => count >= NODE_ACCOUNT_MAX / 2 || this.attempts.has(account),
        ),
      ),
      nowMs: clock.nowMs(),
    });
    for (const delivery of claimed) this.startDelivery(post, delivery);
    // The oldest deliveries may all be of one account: then those of others are next.
    if (claimed.length > 0 && claimed.length < limit) this.claimAgain = true;
  }

  private startDelivery(post: Post, delivery: ClaimedDelivery): void {
    if (delivery.isFailing) this.failingInFlight++;
    const { account } = delivery;
    add(this.attempts, account, 1);
    add(this.places, account, 1);
    const turn = runtime.sleep(ACCOUNT_TURN_MS);
    const work = this.deliver(post, delivery)
      .catch((error) => this.logError(error))
      .finally(() => {
        this.inFlight.delete(work);
        if (delivery.isFailing) this.failingInFlight--;
        add(this.attempts, account, -1);
        const ended = turn
          .then(() => this.endTurn(account))
          .finally(() => this.turns.delete(ended));
        this.turns.add(ended);
      })
      // More deliveries may have waited for the concurrency limits of this node or the webhook.
      .then(() => this.send());
    this.inFlight.add(work);
  }

  /** Frees the place of a delivery among those of its account. */
  private async endTurn(account: string): Promise<void> {
    const mayWait = (this.places.get(account) ?? 0) >= NODE_ACCOUNT_MAX;
    add(this.places, account, -1);
    if (mayWait) await this.send();
  }

  private async deliver(post: Post, delivery: ClaimedDelivery): Promise<void> {
    const { clock, store } = this.options;
    const { id, url, body, lease } = delivery;
    const at = clock.nowMs();
    const startMs = runtime.monotonicMs();
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Fourbeat-Webhooks',
      ...signedHeaders(activeSecrets(delivery, at), id, at, body),
    };
    let posted: PostResult;
    try {
      posted = await post(url, headers, body, this.stopping.signal);
    } catch (error) {
      if (!this.stopping.signal.aborted) throw error;
      // Any node may send it again at once: the receiver detects duplicates by the delivery id.
      return store.releaseDelivery({ id, lease, nowMs: clock.nowMs() });
    }
    const ms = Math.round(runtime.monotonicMs() - startMs);
    await this.finish(delivery, { at, ...posted, ms });
  }

  // Retries while the database is unavailable: an unrecorded attempt is repeated after its lease.
  private async finish({ id, webhook, lease, url }: ClaimedDelivery, attempt: Attempt) {
    const { clock, logger, random, store, pause = () => runtime.sleep(1_000) } = this.options;
    const input = { id, webhook, lease, url, attempt, jitter: random() };
    for (;;) {
      const nowMs = clock.nowMs();
      try {
        const outcome = await store.finishDelivery({ ...input, nowMs });
        if (outcome === null) return;
        this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
        const { status, error } = attempt;
        if (outcome !== 'delivered')
          logger.debug({ webhook, status, error }, 'webhook delivery attempt failed');
        return;
      } catch (error) {
        const isLeaseLost = nowMs >= attempt.at + LEASE_MS || this.stopped;
        if (!(error instanceof Unavailable) || isLeaseLost) throw error;
      }
      await pause();
    }
  }

  /**
   * Runs a part of the work and handles its errors.
   * @param failure what the log says when the database stays unavailable
   * @returns null after an error
   */
  private async attempt<T>(failure: string, work: () => Promise<T>): Promise<T | null> {
    try {
      const result = await work();
      this.failures.delete(failure);
      return result;
    } catch (error) {
      const count = (this.failures.get(failure) ?? 0) + 1;
      this.failures.set(failure, count);
      if (error instanceof Unavailable && count % LOG_EVERY === 0) {
        this.options.logger.warn({ reason: error.message }, `${failure}; trying again`);
      }
      this.logError(error);
      return null;
    }
  }

  // An unavailable database is logged once, by its connection.
  private logError(error: unknown): void {
    if (error instanceof Unavailable) return;
    this.options.logger.warn({ err: error }, 'webhook deliveries could not be processed');
  }
}

/** Changes the count of a key; a map has no keys with 0. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
