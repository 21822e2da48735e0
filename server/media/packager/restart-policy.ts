const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** An encoder that ran this long was healthy: its exit resets the delay. */
const HEALTHY_MS = 60_000;
/** After this many exits without output in a row, the source is to blame. */
const FAILURES_MAX = 5;
/** An encoder emits its first frame within a second or two; a busy machine takes longer. */
const STUCK_TIMEOUT_MS = 10_000;
/** A pause of this length in the source restarts the wait for output. */
const PAUSE_MS = 2_000;

/** Decides when to restart an encoder that exited, and when a running one is stuck. */
export class RestartPolicy {
  private startedMs = 0;
  private hasOutput = false;
  /** Exits since the last healthy run. */
  private consecutiveExits = 0;
  /** Exits since the last output. */
  private consecutiveFailures = 0;
  private lastInputMs = Number.NEGATIVE_INFINITY;
  /** Since when the encoder gets input without emitting output; null: none is due. */
  private awaitingOutputSinceMs: number | null = null;

  /** Call when an encoder starts. */
  onStart(nowMs: number): void {
    this.startedMs = nowMs;
    this.hasOutput = false;
    this.awaitingOutputSinceMs = null;
  }

  /** Call when the encoder gets input, from a key frame on. */
  onInput(nowMs: number): void {
    if (nowMs - this.lastInputMs > PAUSE_MS) this.awaitingOutputSinceMs = null;
    this.lastInputMs = nowMs;
    this.awaitingOutputSinceMs ??= nowMs;
  }

  /** Call when the encoder emits a video fragment. */
  onOutput(nowMs: number): void {
    this.awaitingOutputSinceMs = null;
    this.hasOutput = true;
    this.consecutiveFailures = 0;
    if (nowMs - this.startedMs >= HEALTHY_MS) this.consecutiveExits = 0;
  }

  /**
   * Call when the encoder exits.
   * @returns the delay until the restart, ms; null: do not restart, the source cannot be encoded
   */
  onExit(nowMs: number): number | null {
    if (nowMs - this.startedMs >= HEALTHY_MS && this.hasOutput) this.consecutiveExits = 0;
    if (!this.hasOutput) this.consecutiveFailures++;
    if (this.consecutiveFailures >= FAILURES_MAX) return null;
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.consecutiveExits);
    this.consecutiveExits++;
    return delayMs;
  }

  /** Whether the encoder gets input but emits nothing. */
  isStuck(nowMs: number): boolean {
    if (this.awaitingOutputSinceMs === null || nowMs - this.lastInputMs > PAUSE_MS) return false;
    return nowMs - this.awaitingOutputSinceMs >= STUCK_TIMEOUT_MS;
  }
}
