import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Reading } from '../../platform/metrics.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { deliveryProcedures } from './deliveries-sql.ts';
import type { tellingProcedures } from './dispatch-sql.ts';
import type { Post, Posted } from './post.ts';
import { type Claimed, LEASE_MS, type Sent, type sendingProcedures } from './sending-sql.ts';
import { secretsAt, signedHeaders } from './signing.ts';

export interface SenderOptions {
  readonly store: Calls<typeof tellingProcedures> &
    Calls<typeof sendingProcedures> &
    Pick<Calls<typeof deliveryProcedures>, 'findOldDeliveries' | 'forgetDeliveries'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Null: this node sends nothing, and only puts what happened before the webhooks. */
  readonly post: Post | null;
  readonly newId: () => string;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Waits before the database is told again what came of an attempt (default a second). */
  readonly pause?: () => Promise<void>;
  /** How long what is under way has when the service ends (default 3 s); then it is due for any node. */
  readonly lastMs?: number;
}

const POLL_MS = 1_000;
const TIDY_MS = 60_000;
/** Deliveries that this node sends at once; half of them at most to webhooks that failed last time. */
const AT_ONCE_MAX = 16;
const FAILING_AT_ONCE_MAX = AT_ONCE_MAX / 2;
const LAST_MS = 3_000;

/** Sends what waits in the database to webhooks, beside other nodes that do the same (SPEC H). */
export class WebhookSender {
  private readonly underWay = new Set<Promise<void>>();
  private failingUnderWay = 0;
  private readonly outcomes = new Map<Sent, number>();
  private readonly stopping = new AbortController();
  private stopped = false;
  private claiming: Promise<void> | null = null;
  /** Something became due, or a place free, after the claim that is under way had looked. */
  private isClaimOld = false;
  private timers: Timer[] = [];

  constructor(private readonly options: SenderOptions) {}

  /** Sends what is due, from here on. */
  begin(): void {
    this.timers = [
      setInterval(() => void this.send(), POLL_MS),
      setInterval(() => void this.tidy(), TIDY_MS),
    ];
  }

  /** Tells what happened, and begins to send what is due now; resolves when it is claimed. */
  send(): Promise<void> {
    this.isClaimOld = true;
    this.claiming ??= this.claimAll().finally(() => {
      this.claiming = null;
    });
    return this.claiming;
  }

  /** Sends all that is due now and resolves when it is done; for tests with a clock of their own. */
  async sendAll(): Promise<void> {
    await this.send();
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }

  /** Forgets what is old. */
  async tidy(): Promise<void> {
    const { store, clock } = this.options;
    try {
      const found = await store.findOldDeliveries({ nowMs: clock.nowMs() });
      if (found.old.length + found.beyond.length > 0) await store.forgetDeliveries(found);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Takes no more, and gives back what is not sent in a moment. */
  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    const cut = setTimeout(() => this.stopping.abort(), this.options.lastMs ?? LAST_MS);
    this.stopped = true;
    await this.claiming;
    await Promise.all(this.underWay);
    clearTimeout(cut);
  }

  readonly readings: readonly Reading[] = [
    {
      kind: 'counter',
      // Neither which nor whose: an address may have a secret in it.
      name: 'fourbeat_webhook_deliveries_total',
      help: 'Attempts to tell webhooks by what came of them.',
      labelNames: ['outcome'],
      read: () => [...this.outcomes].map(([outcome, count]) => [count, { outcome }] as const),
    },
  ];

  private async claimAll(): Promise<void> {
    while (this.isClaimOld) {
      this.isClaimOld = false;
      await this.claim();
    }
  }

  private async claim(): Promise<void> {
    const { store, clock, newId, post } = this.options;
    const room = AT_ONCE_MAX - this.underWay.size;
    if (this.stopped) return;
    try {
      const work = await store.findWebhookWork({ nowMs: clock.nowMs() });
      if (work.untold) while (await store.tellWebhooks({}));
      if (post === null || room === 0 || !(work.due || work.untold)) return;
      const claimed = await store.claimDeliveries({
        lease: newId(),
        room,
        failingRoom: FAILING_AT_ONCE_MAX - this.failingUnderWay,
        nowMs: clock.nowMs(),
      });
      for (const delivery of claimed) this.start(post, delivery);
    } catch (error) {
      this.complain(error);
    }
  }

  private start(post: Post, delivery: Claimed): void {
    if (delivery.isFailing) this.failingUnderWay++;
    const work = this.deliver(post, delivery)
      .catch((error) => this.complain(error))
      .finally(() => {
        this.underWay.delete(work);
        if (delivery.isFailing) this.failingUnderWay--;
      })
      // There may be more for it, which waited for its place.
      .then(() => this.send());
    this.underWay.add(work);
  }

  private async deliver(post: Post, delivery: Claimed): Promise<void> {
    const { clock, store } = this.options;
    const { id, url, body, lease } = delivery;
    const at = clock.nowMs();
    const beganMs = performance.now();
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Fourbeat-Webhooks',
      ...signedHeaders(secretsAt(delivery, at), id, at, body),
    };
    let posted: Posted;
    try {
      posted = await post(url, headers, body, this.stopping.signal);
    } catch (error) {
      if (!this.stopping.signal.aborted) throw error;
      // Any node may send it, at once: the receiver knows by its id whether it had it.
      return store.releaseDelivery({ id, lease, nowMs: clock.nowMs() });
    }
    const ms = Math.round(performance.now() - beganMs);
    await this.finish(delivery, { at, ...posted, ms });
  }

  // What came of it must be recorded, or it is sent again; a record that is unavailable comes back.
  private async finish(delivery: Claimed, attempt: Posted & { at: number; ms: number }) {
    const { clock, logger, random, store, pause = () => Bun.sleep(1_000) } = this.options;
    const { id, webhook, lease } = delivery;
    const input = { id, webhook, lease, attempt, jitter: random() };
    for (;;) {
      const nowMs = clock.nowMs();
      try {
        const sent = await store.finishDelivery({ ...input, nowMs });
        if (sent === null) return;
        this.outcomes.set(sent, (this.outcomes.get(sent) ?? 0) + 1);
        const { status, error } = attempt;
        if (sent !== 'delivered')
          logger.debug({ webhook, status, error }, 'a webhook was not told');
        return;
      } catch (error) {
        const isLost = nowMs >= attempt.at + LEASE_MS || this.stopped;
        if (!(error instanceof Unavailable) || isLost) throw error;
      }
      await pause();
    }
  }

  // What is unavailable is told of elsewhere, once.
  private complain(error: unknown): void {
    if (error instanceof Unavailable) return;
    this.options.logger.warn({ err: error }, 'webhooks could not be told');
  }
}
