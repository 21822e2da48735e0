import { DOUBTED_LEAD_MS, DOUBTED_STEP_AFTER_MS } from '../../platform/clock.ts';

export interface ClockDoubtOptions {
  readonly monotonicMs: () => number;
  /** How long this machine slept since the start, in ms. */
  readonly sleptMs: () => number;
  /** Called when doubt begins, with how far the clock of Redis is ahead of all nodes, in ms. */
  readonly onDoubt: (aheadMs: number) => void;
}

/**
 * Nodes follow the largest service time minus this distance: without it the largest would follow
 * itself and never return to the clock of Redis. It exceeds drift and error between two readings.
 */
const FOLLOW_DISTANCE_MS = 20;
/** When the lead of Redis changes by more than this, its clock is still being set: the wait starts again. */
const STEADY_MS = 1_000;

/**
 * Decides which clock a node follows, once a second. That is the clock of Redis, or the foremost node
 * while it is ahead. A clock of Redis that is more than a minute ahead of every node is doubted: it is
 * more likely wrong than all nodes are, and a step would expire all tokens. Nodes then
 * follow the foremost of them for five minutes. A node that was paused alone is behind the others, too,
 * so it does not doubt. Nor does one whose machine slept as long.
 */
export class ClockDoubt {
  private doubtedSinceMs: number | null = null;
  private doubtedAheadMs = 0;
  /** Total sleep of the machine when the nodes last agreed with Redis, in ms. */
  private followedSleepMs = 0;

  constructor(private readonly options: ClockDoubtOptions) {}

  /**
   * The lead over the clock of Redis to follow, in ms; negative while that clock is doubted.
   * @param foremostMs lead of the foremost node over the clock of Redis; null: no node has published
   */
  followedLeadMs(foremostMs: number | null): number {
    const aheadMs = -(foremostMs ?? 0);
    if (foremostMs === null || aheadMs <= DOUBTED_LEAD_MS) {
      this.doubtedSinceMs = null;
      this.followedSleepMs = this.options.sleptMs();
      return Math.max(0, (foremostMs ?? 0) - FOLLOW_DISTANCE_MS);
    }
    // The machine slept about as long as Redis is ahead. The monotonic clock does not count sleep.
    if (this.options.sleptMs() - this.followedSleepMs >= aheadMs - DOUBTED_LEAD_MS) return 0;
    const nowMs = this.options.monotonicMs();
    if (this.doubtedSinceMs === null || Math.abs(aheadMs - this.doubtedAheadMs) > STEADY_MS) {
      if (this.doubtedSinceMs === null) this.options.onDoubt(aheadMs);
      this.doubtedSinceMs = nowMs;
      this.doubtedAheadMs = aheadMs;
    }
    // Without the distance: the foremost node would follow a time behind its own, and run 1 % slow.
    return nowMs - this.doubtedSinceMs < DOUBTED_STEP_AFTER_MS ? foremostMs : 0;
  }
}
