import type { Fragment } from './fmp4/fragment.ts';
import type { Track } from './segment.ts';

/** Pictures of all renditions are of the same moments; what differs is rounding to ticks. */
export const ALIGNMENT_TOLERANCE_MS = 1;

// A player jumps over a hole of this length, and nobody hears it. More than that is no longer one
// timeline.
const GAP_MS_MAX = 100;

/** Ticks of a track as ms: exact where ms are whole, also for Unix time. */
export function msOf(ticks: number, timescale: number): number {
  const remainder = ticks % timescale;
  return ((ticks - remainder) / timescale) * 1_000 + (remainder * 1_000) / timescale;
}

/** Fragments of one track that wait for their segment, by source time. */
export class TrackQueue {
  private fragments: Fragment[] = [];
  private newestEndTicks: number | null = null;

  constructor(readonly track: Track) {}

  /** Source time at which its newest fragment ends, ms; null before the first. */
  get endMs(): number | null {
    return this.newestEndTicks === null ? null : this.msOf(this.newestEndTicks);
  }

  /** The fragment that waits longest. */
  get first(): Fragment | null {
    return this.fragments[0] ?? null;
  }

  /** @throws Error when it does not follow the one before */
  push(fragment: Fragment): void {
    const { newestEndTicks } = this;
    if (newestEndTicks !== null) {
      const gapMs = this.msOf(fragment.startTicks - newestEndTicks);
      if (Math.abs(gapMs) > GAP_MS_MAX) {
        throw new Error(`${this.track.id} jumped by ${Math.round(gapMs)} ms`);
      }
    }
    this.newestEndTicks = fragment.startTicks + fragment.durationTicks;
    this.fragments.push(fragment);
  }

  /** Whether a fragment waits that comes after this cut: all before it are there. */
  isPast(cutMs: number): boolean {
    const newest = this.fragments.at(-1);
    return newest !== undefined && this.cutPositionMs(newest) >= cutMs;
  }

  /** Whether all fragments before this cut are there, as far as one can tell without the next. */
  reaches(cutMs: number): boolean {
    return (
      this.isPast(cutMs) ||
      (this.endMs ?? Number.NEGATIVE_INFINITY) >= cutMs - ALIGNMENT_TOLERANCE_MS
    );
  }

  /** Takes the fragments before this cut out of the queue. */
  takeUntil(cutMs: number): Fragment[] {
    const after = this.fragments.findIndex((fragment) => this.cutPositionMs(fragment) >= cutMs);
    return this.fragments.splice(0, after === -1 ? this.fragments.length : after);
  }

  /** Where the last fragment that ends by this time ends; null when none does. */
  endBefore(atMs: number): number | null {
    const ends = this.fragments.map((one) => this.msOf(one.startTicks + one.durationTicks));
    return ends.findLast((endMs) => endMs <= atMs) ?? null;
  }

  msOf(ticks: number): number {
    return msOf(ticks, this.track.timescale);
  }

  // Pictures are cut where they begin. Sound is cut at the boundary that is nearest: a fragment
  // belongs to the side of the cut on which most of it is.
  private cutPositionMs({ startTicks, durationTicks }: Fragment): number {
    return this.track.kind === 'video'
      ? this.msOf(startTicks) + ALIGNMENT_TOLERANCE_MS
      : this.msOf(startTicks + durationTicks / 2);
  }
}
