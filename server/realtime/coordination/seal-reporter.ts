import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { SharedChat } from '../../domains/chat/chat-shared.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { SharedPresenceRegistry } from '../presence/presence-registry.ts';
import { countIsDue } from '../presence/view-count-events.ts';
import type { FeedHealth } from './feed-health.ts';
import type { ReportReply, SealCoordinator } from './seal-coordinator.ts';
import type { SealFailover } from './seal-failover.ts';
import type { SharedSealer } from './shared-sealer.ts';

export interface SealReporterOptions {
  readonly clock: Clock;
  readonly log: MemoryFeedLog;
  readonly parts: Pick<SealCoordinator, 'isKnown' | 'report'>;
  readonly presence: Pick<SharedPresenceRegistry, 'send'>;
  readonly chat: SharedChat;
  readonly sealer: Pick<SharedSealer, 'seal' | 'isBusy'>;
  readonly late: Pick<SealFailover, 'expect'>;
  readonly trouble: FeedHealth;
}

/**
 * While sealing is further behind than this, as when the database is unavailable, posts are handed over once
 * a second and not with each interval: they wait in Redis until it is back, and take memory there.
 */
const HAND_OVER_BEHIND_MAX = 4;
const HAND_OVER_LATE_EVERY = 4;
/** A clock that is early this often for one interval is reported again with the next one. */
const EARLY_TRIES = 4;

/** Reports each interval to all nodes as soon as it has ended, and seals when told to. */
export class SealReporter {
  private reported: number;
  private running: Promise<void> | null = null;
  private stopped = false;
  private leaving = false;
  /** What was handed over here is in the feed when this interval is sealed. */
  private handedOverIn: number;

  constructor(private readonly options: SealReporterOptions) {
    this.reported = options.log.sealedTo();
    this.handedOverIn = this.reported;
  }

  /** Reports the interval that ended last, unless that is done or under way. */
  report(): Promise<void> {
    this.running ??= this.reportEnded().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Whether an interval has ended that is not reported. */
  isDue(): boolean {
    return intervalAt(this.options.clock.nowMs()) - 1 > this.reported;
  }

  /** Whether everything that this node had at the end of an interval is sealed. */
  isSettled(interval: number): boolean {
    const { log, chat } = this.options;
    if (this.reported < interval || !chat.isEmpty()) return false;
    return log.sealedTo() >= Math.max(interval, this.handedOverIn);
  }

  /** From here on posts are handed over with each interval, however far sealing is behind. */
  leave(): void {
    this.leaving = true;
  }

  stop(): void {
    this.stopped = true;
  }

  // A report may outlast an interval; the one that ended meanwhile is not left to the next tick.
  private async reportEnded(): Promise<void> {
    const { clock, trouble } = this.options;
    try {
      while (!this.stopped && this.isDue()) {
        if (!(await this.reportOne(intervalAt(clock.nowMs()) - 1))) return;
      }
    } catch (error) {
      trouble.note(error);
    }
  }

  /** @returns whether it has ended for all */
  private async reportOne(interval: number): Promise<boolean> {
    const { presence, sealer, late, trouble } = this.options;
    await presence.send(interval);
    for (let tries = 0; tries < EARLY_TRIES; tries++) {
      const { verdict, waitMs } = await this.tell(interval);
      if (verdict === 'early') {
        await Bun.sleep(waitMs);
        continue;
      }
      this.reported = interval;
      late.expect(interval);
      if (verdict === 'seal') void sealer.seal(interval).catch((error) => trouble.note(error));
      return true;
    }
    return false;
  }

  private handsOverIn(interval: number): boolean {
    const isLate = interval - this.options.log.sealedTo() > HAND_OVER_BEHIND_MAX;
    return this.leaving || !isLate || interval % HAND_OVER_LATE_EVERY === 0;
  }

  private async tell(interval: number): Promise<ReportReply> {
    const { log, parts, chat, sealer } = this.options;
    const sealed = log.sealedTo();
    const handOver = parts.isKnown() && this.handsOverIn(interval) ? chat.next() : null;
    const reply = await parts.report({
      interval,
      served: sealed,
      able: !sealer.isBusy(),
      handOver,
      watched: countIsDue(sealed + 1, interval) ? [...log.watched(interval)] : [],
    });
    // A reply that does not say what became of it leaves it as it was: it may have arrived before.
    if (handOver && reply.handOver !== null) {
      chat.settle(reply.handOver);
      this.handedOverIn = reply.watermark + 1;
    }
    return reply;
  }
}

/** When the interval of a moment ends, in ms from then. */
export function untilEndMs(nowMs: number): number {
  return intervalStartMs(intervalAt(nowMs) + 1) - nowMs;
}
