import type { Fragment } from './fmp4/fragment.ts';
import type { Track } from './segment.ts';

/** Frames of all renditions have the same times, except for rounding to ticks, ms. */
export const ALIGNMENT_TOLERANCE_MS = 1;

// Players skip a gap of this length inaudibly. A longer one breaks the timeline.
const GAP_MS_MAX = 100;

/** Converts ticks to ms; exact for whole ms, also for Unix time. */
export function msOf(ticks: number, timescale: number): number {
  const remainder = ticks % timescale;
  return ((ticks - remainder) / timescale) * 1_000 + (remainder * 1_000) / timescale;
}

/** Pending fragments of one track, in source time. */
export class TrackQueue {
  private fragments: Fragment[] = [];
  private newestEndTicks: number | null = null;

  constructor(readonly track: Track) {}

  /** Source time at which the newest fragment ends, ms; null before the first. */
  get endMs(): number | null {
    return this.newestEndTicks === null ? null : this.msOf(this.newestEndTicks);
  }

  /** The oldest pending fragment. */
  get first(): Fragment | null {
    return this.fragments[0] ?? null;
  }

  /** @throws Error when the fragment does not follow its predecessor */
  push(fragment: Fragment): void {
    const { newestEndTicks } = this;
    if (newestEndTicks !== null) {
      const gapMs = this.msOf(fragment.startTicks - newestEndTicks);
      if (Math.abs(gapMs) > GAP_MS_MAX) {
        throw new Error(`the times of ${this.track.id} jumped by ${Math.round(gapMs)} ms`);
      }
    }
    this.newestEndTicks = fragment.startTicks + fragment.durationTicks;
    this.fragments.push(fragment);
  }

  /** Whether a fragment after this cut is pending, so that all before it have arrived. */
  isPast(cutMs: number): boolean {
    const newest = this.fragments.at(-1);
    return newest !== undefined && this.cutPositionMs(newest) >= cutMs;
  }

  /** Whether all fragments before this cut have probably arrived, judged without the next one. */
  reaches(cutMs: number): boolean {
    return (
      this.isPast(cutMs) ||
      (this.endMs ?? Number.NEGATIVE_INFINITY) >= cutMs - ALIGNMENT_TOLERANCE_MS
    );
  }

  /** Removes and returns the fragments before this cut. */
  takeUntil(cutMs: number): Fragment[] {
    const after = this.fragments.findIndex((fragment) => this.cutPositionMs(fragment) >= cutMs);
    return this.fragments.splice(0, after === -1 ? this.fragments.length : after);
  }

  /** The end of the last fragment that ends by this time; null when none does. */
  endBefore(atMs: number): number | null {
    const ends = this.fragments.map(({ startTicks, durationTicks }) =>
      this.msOf(startTicks + durationTicks),
    );
    return ends.findLast((endMs) => endMs <= atMs) ?? null;
  }

  msOf(ticks: number): number {
    return msOf(ticks, this.track.timescale);
  }

  // Video is cut at the start of a fragment. An audio fragment belongs to the side of the cut with
  // the larger share of it.
  private cutPositionMs({ startTicks, durationTicks }: Fragment): number {
    return this.track.kind === 'video'
      ? this.msOf(startTicks) + ALIGNMENT_TOLERANCE_MS
      : this.msOf(startTicks + durationTicks / 2);
  }
}
