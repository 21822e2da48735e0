const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** An encoder that ran this long was well; what ends it later has nothing to do with before. */
const HEALTHY_MS = 60_000;
/** So often an encoder may end without having made anything, before it is the source's fault. */
const FAILURES_MAX = 5;
/** An encoder gives its first picture within a second or two; on a busy machine it takes longer. */
const STUCK_MS = 10_000;
/** A source that paused for this long is waited for anew. */
const PAUSE_MS = 2_000;

/** Says when an encoder that ended is started again, and when one that runs is stuck. */
export class BackOff {
  private startedMs = 0;
  private hasMade = false;
  /** Ends one after the other, without a healthy run between them. */
  private ends = 0;
  /** Ends one after the other, without anything made between them. */
  private failures = 0;
  private fedMs = Number.NEGATIVE_INFINITY;
  /** Since when the encoder is fed and makes nothing; null: it owes nothing. */
  private waitingSinceMs: number | null = null;

  /** An encoder starts. */
  started(nowMs: number): void {
    this.startedMs = nowMs;
    this.hasMade = false;
    this.waitingSinceMs = null;
  }

  /** It was given something of the source, from a key frame on. */
  fed(nowMs: number): void {
    if (nowMs - this.fedMs > PAUSE_MS) this.waitingSinceMs = null;
    this.fedMs = nowMs;
    this.waitingSinceMs ??= nowMs;
  }

  /** It made a fragment of the picture. */
  made(nowMs: number): void {
    this.waitingSinceMs = null;
    this.hasMade = true;
    this.failures = 0;
    if (nowMs - this.startedMs >= HEALTHY_MS) this.ends = 0;
  }

  /**
   * It ended.
   * @returns after how many ms to start the next; null: not again, for nothing comes of it
   */
  exited(nowMs: number): number | null {
    if (nowMs - this.startedMs >= HEALTHY_MS && this.hasMade) this.ends = 0;
    if (!this.hasMade) this.failures++;
    if (this.failures >= FAILURES_MAX) return null;
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.ends);
    this.ends++;
    return waitMs;
  }

  /** The source flows and nothing comes out. */
  isStuck(nowMs: number): boolean {
    if (this.waitingSinceMs === null || nowMs - this.fedMs > PAUSE_MS) return false;
    return nowMs - this.waitingSinceMs >= STUCK_MS;
  }
}
