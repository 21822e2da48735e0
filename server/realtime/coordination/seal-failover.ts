import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { FeedFollower } from './feed-follower.ts';
import type { FeedHealth } from './feed-health.ts';
import type { SealCoordinator } from './seal-coordinator.ts';
import type { SharedSealer } from './shared-sealer.ts';
import { DatabaseRolledBack } from './tail-repair.ts';

export interface SealFailoverOptions {
  readonly log: MemoryFeedLog;
  readonly parts: Pick<SealCoordinator, 'claim' | 'publish'>;
  readonly sealer: Pick<SharedSealer, 'seal' | 'isBusy'>;
  readonly follower: Pick<FeedFollower, 'catchUp'>;
  readonly trouble: FeedHealth;
  readonly redisUnavailable: () => string | null;
  readonly random: () => number;
}

/** What is not sealed by then may be lost news, or a record that is unavailable: the database is asked. */
const LATE_MS = 30;
/** A node waits so long for others to report and to seal. */
const CLAIM_AFTER_MS = 120;
const AGAIN_LEAST_MS = 20;
const AGAIN_JITTER_MS = 30;
/** What failed is tried again after this. */
const FAILED_LEAST_MS = 100;
const FAILED_JITTER_MS = 100;
/** Nodes that reach the database need so long to pass one over that does not, and to tell it. */
const OTHERS_MS = 200;

/**
 * Sees to it that an interval is sealed, or seen to be, when that did not happen in time: whoever
 * was to seal it died or stalls, or the news of it were lost, or the database is unavailable.
 */
export class SealFailover {
  private target = -1;
  private targetAtMs = 0;
  /** What readers here had when the database failed to answer first; null while it answers. */
  private failedAt: number | null = null;
  private running = false;
  private timer: Timer | null = null;
  private stopped = false;

  constructor(private readonly options: SealFailoverOptions) {}

  /** An interval was reported by this node. */
  expect(interval: number): void {
    if (interval > this.target) {
      this.target = interval;
      this.targetAtMs = performance.now();
    }
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.run();
    }, LATE_MS);
  }

  stop(): void {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.isLate()) await Bun.sleep(await this.step());
    this.running = false;
  }

  private isLate(): boolean {
    const { log, redisUnavailable } = this.options;
    return !this.stopped && redisUnavailable() === null && log.sealedTo() < this.target;
  }

  /** @returns how long to wait before the next look, in ms */
  private async step(): Promise<number> {
    const { random, trouble } = this.options;
    const failed = FAILED_LEAST_MS + random() * FAILED_JITTER_MS;
    const again = AGAIN_LEAST_MS + random() * AGAIN_JITTER_MS;
    try {
      if (await this.findInStore()) return 0;
    } catch (error) {
      this.recordFailed(error);
      return failed;
    }
    try {
      return Math.max(again, await this.claim());
    } catch (error) {
      trouble.note(error);
      return failed;
    }
  }

  // As long as others seal and tell it, the database is unavailable from here only, and readers may wait.
  private recordFailed(error: unknown): void {
    const { log, trouble } = this.options;
    if (error instanceof DatabaseRolledBack) {
      trouble.databaseRolledBack(error);
      return;
    }
    this.failedAt ??= log.sealedTo();
    const isLate =
      log.sealedTo() < this.target - 1 || performance.now() > this.targetAtMs + OTHERS_MS;
    if (isLate || log.sealedTo() === this.failedAt) trouble.recordFailed(error);
    else trouble.note(error);
  }

  // It may be sealed, and only the news of it lost: with its sealer, or with the memory of Redis.
  private async findInStore(): Promise<boolean> {
    const { follower, parts, trouble } = this.options;
    const found = await follower.catchUp();
    this.failedAt = null;
    trouble.recordWorked();
    if (!found) return false;
    // Others may wait for the same news. When they are lost too, the others look for themselves.
    await parts.publish(found).catch(() => {});
    return true;
  }

  /** @returns how long another node has to seal it, in ms */
  private async claim(): Promise<number> {
    const { parts, sealer, trouble } = this.options;
    const earlyMs = this.targetAtMs + CLAIM_AFTER_MS - performance.now();
    if (sealer.isBusy() || earlyMs > 0) return Math.max(0, earlyMs);
    const interval = this.target;
    const { verdict, waitMs } = await parts.claim(interval);
    // Not waited for: a record that goes away meanwhile may answer very late, and is asked again.
    if (verdict === 'seal') void sealer.seal(interval).catch((error) => trouble.note(error));
    return waitMs;
  }
}
