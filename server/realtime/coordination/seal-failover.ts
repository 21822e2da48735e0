import { runtime } from '../../platform/runtime.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack } from '../feed/sealed-sql.ts';
import type { FeedFollower } from './feed-follower.ts';
import type { FeedHealth } from './feed-health.ts';
import type { SealCoordinator } from './seal-coordinator.ts';
import type { SharedSealer } from './shared-sealer.ts';

export interface SealFailoverOptions {
  readonly log: MemoryFeedLog;
  readonly coordinator: Pick<SealCoordinator, 'claim' | 'fence' | 'publish'>;
  readonly sealer: Pick<SharedSealer, 'seal' | 'isBusy' | 'databaseFailed'>;
  readonly follower: Pick<FeedFollower, 'catchUp'>;
  readonly health: FeedHealth;
  readonly redisUnavailable: () => string | null;
  /** Numbers in [0, 1), so that nodes do not retry at the same time. */
  readonly random: () => number;
}

/** After this a reported interval is late: its publication may be lost, so the database is read. */
const LATE_AFTER_MS = 30;
/** How long a node waits for others to report and to seal before it claims the interval. */
const CLAIM_AFTER_MS = 120;
const RECHECK_MIN_MS = 20;
const RECHECK_JITTER_MS = 30;
/** Retry after a failure. */
const RETRY_MIN_MS = 100;
const RETRY_JITTER_MS = 100;
/** Time for the nodes that reach the database to seal and publish without a node that does not. */
const OTHER_NODES_MS = 200;

/**
 * Makes sure that each reported interval is sealed and served on this node when the normal way
 * fails: its sealer died or stalls, its publication was lost, or the database is unavailable.
 *
 * `expect` starts a timer. Until a late interval is served, `SealFailover` reads the database
 * repeatedly, and after `CLAIM_AFTER_MS` also claims the interval. While Redis is unavailable it
 * does nothing; the next report starts it again. Failures are recorded in `FeedHealth` and
 * retried.
 */
export class SealFailover {
  private target = -1; // The newest interval that this node reported.
  private targetAtMs = 0;
  /** The newest served interval when the database first failed; null while it answers. */
  private servedAtFailure: number | null = null;
  private running = false;
  private timer: Timer | null = null;
  private stopped = false;

  constructor(private readonly options: SealFailoverOptions) {}

  /** This node reported the interval: it should be sealed soon. */
  expect(interval: number): void {
    if (interval > this.target) {
      this.target = interval;
      this.targetAtMs = runtime.monotonicMs();
    }
    this.timer ??= runtime.setTimeout(() => {
      this.timer = null;
      void this.run();
    }, LATE_AFTER_MS);
  }

  stop(): void {
    this.stopped = true;
    if (this.timer) runtime.clearTimer(this.timer);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.isLate()) await runtime.sleep(await this.step());
    this.running = false;
  }

  private isLate(): boolean {
    const { log, redisUnavailable } = this.options;
    return !this.stopped && redisUnavailable() === null && log.watermark() < this.target;
  }

  /** @returns how long to wait before the next step, in ms */
  private async step(): Promise<number> {
    const { random, health } = this.options;
    const retryMs = RETRY_MIN_MS + random() * RETRY_JITTER_MS;
    const recheckMs = RECHECK_MIN_MS + random() * RECHECK_JITTER_MS;
    try {
      if (await this.findInDatabase()) return 0;
    } catch (error) {
      this.databaseFailed(error);
      return retryMs;
    }
    try {
      return Math.max(recheckMs, await this.claim());
    } catch (error) {
      health.sealingFailed(error);
      return retryMs;
    }
  }

  // While other nodes seal and publish, the database is unreachable from this node only: viewers
  // may keep waiting.
  private databaseFailed(error: unknown): void {
    const { log, health, sealer } = this.options;
    if (error instanceof DatabaseRolledBack) {
      health.databaseRolledBack(error);
      return;
    }
    sealer.databaseFailed();
    this.servedAtFailure ??= log.watermark();
    const isOverdue =
      log.watermark() < this.target - 1 || runtime.monotonicMs() > this.targetAtMs + OTHER_NODES_MS;
    if (isOverdue || log.watermark() === this.servedAtFailure) health.databaseFailed(error);
    else health.sealingFailed(error);
  }

  /** Publishes and serves intervals that are sealed and whose publication was lost. @returns whether there were any */
  private async findInDatabase(): Promise<boolean> {
    const { follower, coordinator, health } = this.options;
    const hasFound = await follower.catchUp(async (entry, timeline) => {
      try {
        const reply = await coordinator.publish(entry, timeline);
        if (reply.timeline !== timeline) await coordinator.fence(timeline);
        return reply;
      } catch (error) {
        health.sealingFailed(error);
        return null;
      }
    });
    this.servedAtFailure = null;
    health.databaseWorked();
    return hasFound;
  }

  /** @returns how long another node has to seal the interval, in ms */
  private async claim(): Promise<number> {
    const { coordinator, sealer, health } = this.options;
    const untilClaimMs = this.targetAtMs + CLAIM_AFTER_MS - runtime.monotonicMs();
    if (sealer.isBusy() || untilClaimMs > 0) return Math.max(0, untilClaimMs);
    const interval = this.target;
    const { decision, waitMs } = await coordinator.claim(interval);
    // Not awaited: an unavailable database may answer late, and the next step must check it.
    if (decision === 'seal') {
      void sealer.seal(interval).catch((error) => health.sealingFailed(error));
    }
    return waitMs;
  }
}
