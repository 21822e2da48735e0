import type { IntervalCount } from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';

/** A stretch without a count is a gap when it is this many times longer than is usual. */
const GAP_TIMES = 3;
/** Counts come once a second: less than this is no gap. */
const GAP_LEAST_MS = 5_000;
const COUNT_HOLDS_MS = 1_000;

/** The audience as a chart takes it: s since the begin of the show, and counts; null breaks the line. */
export interface AudienceSeries {
  readonly placesS: readonly number[];
  readonly counts: readonly (number | null)[];
}

/**
 * Counts are told while somebody watches. Where none were told for a while the line breaks: nobody
 * knows what was between.
 * @param beginMs of the show, Unix ms
 */
export function audienceSeries(points: readonly IntervalCount[], beginMs: number): AudienceSeries {
  const gapMs = gapOf(points);
  const placesS: number[] = [];
  const counts: (number | null)[] = [];
  for (const [place, { interval, count }] of points.entries()) {
    const atMs = intervalStartMs(interval) - beginMs;
    const beforeMs = intervalStartMs(points[place - 1]?.interval ?? interval) - beginMs;
    if (atMs - beforeMs > gapMs) {
      placesS.push((beforeMs + COUNT_HOLDS_MS) / 1_000);
      counts.push(null);
    }
    placesS.push(atMs / 1_000);
    counts.push(count);
  }
  return { placesS, counts };
}

/** How many there were at a place, by the last count before it; null: not known. */
export function countAt({ placesS, counts }: AudienceSeries, placeS: number): number | null {
  return counts[placesS.findLastIndex((pointS) => pointS <= placeS)] ?? null;
}

function gapOf(points: readonly IntervalCount[]): number {
  const distances = points
    .slice(1)
    .map(({ interval }, place) => interval - (points[place]?.interval ?? interval))
    .sort((a, b) => a - b);
  const usualMs = intervalStartMs(distances[(distances.length - 1) >> 1] ?? 0);
  return Math.max(GAP_LEAST_MS, usualMs * GAP_TIMES);
}
