// Sound and picture are not further apart.
const GAP_MS = 3_000;
// No encoder takes harm of filling this with pictures.
const SILENCE_MS = 8_000;
// A file that is sent as fast as it goes is ahead of its time again every five seconds.
const JUMPS_MAX = 3;
const JUMPS_WITHIN_MS = 60_000;

/**
 * What a time of a source means beside the one before: it goes on, nothing came for a while, or its
 * clock jumped.
 */
export type Step = 'on' | 'silence' | 'jump';

/** The times of a source as they come, ms: those it says, and ours. */
export class SourceTimes {
  /** The first since its clock jumped; null: none yet. */
  firstMs: number | null = null;
  /** The newest; null: none yet. */
  newestMs: number | null = null;
  private newestAtMs = 0;
  private jumpedAtMs: readonly number[] = [];

  /** A time has come. */
  step(sourceMs: number, nowMs: number): Step {
    const passedMs = this.newestMs === null ? 0 : sourceMs - this.newestMs;
    const offMs = this.newestMs === null ? 0 : passedMs - (nowMs - this.newestAtMs);
    this.newestMs = sourceMs;
    this.newestAtMs = nowMs;
    if (Math.abs(passedMs) > GAP_MS && Math.abs(offMs) > GAP_MS) return 'jump';
    return passedMs > SILENCE_MS ? 'silence' : 'on';
  }

  /** Its clock jumped. @returns whether it did so too often to be one that runs as ours */
  jumped(nowMs: number): boolean {
    this.firstMs = null;
    this.jumpedAtMs = [...this.jumpedAtMs, nowMs].filter((at) => nowMs - at < JUMPS_WITHIN_MS);
    return this.jumpedAtMs.length > JUMPS_MAX;
  }
}
