// Audio and video timestamps are not further apart than this.
const JUMP_MS = 3_000;
// An encoder can fill a gap of this length with frames.
const PAUSE_MS = 8_000;
// A file that is sent faster than real time jumps about every five seconds.
const JUMPS_MAX = 3;
const JUMPS_WITHIN_MS = 60_000;

/** How a timestamp relates to the one before: continuous, after a pause, or after a clock jump. */
export type ClockStep = 'continuous' | 'pause' | 'jump';

/** Detects pauses and clock jumps by comparing the source's timestamps with service time. */
export class SourceClock {
  /** First source time since the clock jumped, ms; null: none yet. */
  firstMs: number | null = null;
  /** Newest source time, ms; null: none yet. */
  newestMs: number | null = null;
  private newestArrivedMs = 0;
  /** Least arrival time minus source time since the clock jumped, ms: that of the shortest queue. */
  private leastDelayMs = Number.POSITIVE_INFINITY;
  private recentJumpsMs: readonly number[] = [];

  /** Classifies the next timestamp. */
  advance(sourceMs: number, nowMs: number): ClockStep {
    const sourceElapsedMs = this.newestMs === null ? 0 : sourceMs - this.newestMs;
    const driftMs = this.newestMs === null ? 0 : sourceElapsedMs - (nowMs - this.newestArrivedMs);
    // After a stall of the network a source may drop frames: it goes forward, but stays late.
    const isEarly = nowMs - sourceMs < this.leastDelayMs - JUMP_MS;
    this.newestMs = sourceMs;
    this.newestArrivedMs = nowMs;
    const isStep = Math.abs(sourceElapsedMs) > JUMP_MS && Math.abs(driftMs) > JUMP_MS;
    if (isStep && (isEarly || sourceElapsedMs < 0)) {
      this.leastDelayMs = nowMs - sourceMs;
      return 'jump';
    }
    this.leastDelayMs = Math.min(this.leastDelayMs, nowMs - sourceMs);
    return sourceElapsedMs > PAUSE_MS ? 'pause' : 'continuous';
  }

  /** Forgets `firstMs`. @returns whether the clock jumped too often to run in real time */
  resetAfterJump(nowMs: number): boolean {
    this.firstMs = null;
    this.recentJumpsMs = [...this.recentJumpsMs, nowMs].filter(
      (jumpMs) => nowMs - jumpMs < JUMPS_WITHIN_MS,
    );
    return this.recentJumpsMs.length > JUMPS_MAX;
  }
}
