import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import { runtime } from '../../platform/runtime.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { SharedTransientSource } from '../feed/transient-source.ts';
import type { SharedPresenceRegistry } from '../presence/presence-registry.ts';
import { countIsDue } from '../presence/view-count-events.ts';
import type { FeedHealth } from './feed-health.ts';
import type { SealCoordinator, SealReportReply } from './seal-coordinator.ts';
import type { SealFailover } from './seal-failover.ts';
import type { SharedSealer } from './shared-sealer.ts';

export interface SealReporterOptions {
  readonly clock: Clock;
  readonly log: MemoryFeedLog;
  readonly coordinator: Pick<SealCoordinator, 'hasReported' | 'report'>;
  readonly presence: Pick<SharedPresenceRegistry, 'replicate'>;
  /** Whether a stream counts no viewers any more (S-21). */
  readonly isArchived: (streamId: string) => boolean;
  /** Viewers' posts on this node. */
  readonly source: SharedTransientSource;
  readonly sealer: Pick<SharedSealer, 'seal' | 'canSeal'>;
  readonly failover: Pick<SealFailover, 'expect'>;
  readonly health: FeedHealth;
}

/**
 * While sealing lags by more intervals than this, as when the database is unavailable, a node sends
 * posts once a second only: until sealing resumes they take memory in Redis.
 */
const BATCH_LAG_MAX = 4;
const LAGGING_BATCH_INTERVALS = 4;
/** After this many early reports of one interval, the next interval is reported instead. */
const EARLY_REPORTS_MAX = 4;

/**
 * Reports each interval to the coordinator as soon as it has ended on this node, and seals it when
 * the coordinator says so. `report` runs at the end of each interval, and after an outage at once.
 * It needs the coordinator. A failure is recorded in `FeedHealth`; the interval is then reported
 * again, or with the next one, and its batch of posts is sent again.
 */
export class SealReporter {
  private reportedInterval: number; // The newest one that the coordinator accepted.
  private running: Promise<void> | null = null;
  private stopped = false;
  private leaving = false;
  /** The interval that contains the newest accepted batch. */
  private batchInterval: number;

  constructor(private readonly options: SealReporterOptions) {
    this.reportedInterval = options.log.watermark();
    this.batchInterval = this.reportedInterval;
  }

  /** Reports the newest interval that has ended, unless that is done. Joins a report under way. */
  report(): Promise<void> {
    this.running ??= this.reportEnded().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Whether an interval has ended that this node has not reported. */
  isDue(): boolean {
    return intervalAt(this.options.clock.nowMs()) - 1 > this.reportedInterval;
  }

  /** Whether everything that this node had when the interval ended is sealed. */
  isSettled(interval: number): boolean {
    const { log, source } = this.options;
    if (this.reportedInterval < interval || !source.isEmpty()) return false;
    return log.watermark() >= Math.max(interval, this.batchInterval);
  }

  /** From now on sends posts with each interval, however far sealing lags. */
  leave(): void {
    this.leaving = true;
  }

  stop(): void {
    this.stopped = true;
  }

  // A report may take longer than an interval: then the interval that ended meanwhile follows.
  private async reportEnded(): Promise<void> {
    const { clock, health } = this.options;
    try {
      while (!this.stopped && this.isDue()) {
        if (!(await this.reportInterval(intervalAt(clock.nowMs()) - 1))) return;
      }
    } catch (error) {
      health.sealingFailed(error);
    }
  }

  /** @returns whether the interval has ended by the coordinator's clock */
  private async reportInterval(interval: number): Promise<boolean> {
    const { presence, sealer, failover, health } = this.options;
    await presence.replicate(interval);
    for (let tries = 0; tries < EARLY_REPORTS_MAX; tries++) {
      const { decision, waitMs } = await this.send(interval);
      if (decision === 'early') {
        await runtime.sleep(waitMs);
        continue;
      }
      this.reportedInterval = interval;
      failover.expect(interval);
      if (decision === 'seal') {
        void sealer.seal(interval).catch((error) => health.sealingFailed(error));
      }
      return true;
    }
    return false;
  }

  private async send(interval: number): Promise<SealReportReply> {
    const { log, coordinator, source, sealer, isArchived } = this.options;
    const served = log.watermark();
    const batch =
      coordinator.hasReported() && this.sendsBatch(interval) ? source.nextBatch() : null;
    const reply = await coordinator.report({
      interval,
      served,
      canSeal: sealer.canSeal(),
      batch,
      activeStreams: countIsDue(served + 1, interval)
        ? [...log.activeStreams(interval)].filter((id) => !isArchived(id))
        : [],
    });
    // Without a result the batch stays unsettled: an earlier attempt may have arrived.
    if (batch && reply.batchResult !== null) {
      source.settleBatch(reply.batchResult);
      this.batchInterval = reply.watermark + 1;
    }
    return reply;
  }

  private sendsBatch(interval: number): boolean {
    const isLagging = interval - this.options.log.watermark() > BATCH_LAG_MAX;
    return this.leaving || !isLagging || interval % LAGGING_BATCH_INTERVALS === 0;
  }
}
