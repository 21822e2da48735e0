import type { IntervalCount } from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';

/** A stretch without a count is a gap when it is this many times longer than is usual. */
const GAP_TIMES = 3;
/** Counts come once a second: less than this is no gap. */
const GAP_LEAST_MS = 5_000;
const COUNT_HOLDS_MS = 1_000;

/** The audience as a chart takes it: places of time in Unix seconds, and counts; null breaks the line. */
export interface AudienceSeries {
  readonly atS: readonly number[];
  readonly counts: readonly (number | null)[];
}

/**
 * Counts are told while somebody watches. Where none were told for a while the line breaks: nobody
 * knows what was between.
 */
export function audienceSeries(points: readonly IntervalCount[]): AudienceSeries {
  const gapMs = gapOf(points);
  const atS: number[] = [];
  const counts: (number | null)[] = [];
  for (const [place, { interval, count }] of points.entries()) {
    const atMs = intervalStartMs(interval);
    const beforeMs = intervalStartMs(points[place - 1]?.interval ?? interval);
    if (atMs - beforeMs > gapMs) {
      atS.push((beforeMs + COUNT_HOLDS_MS) / 1_000);
      counts.push(null);
    }
    atS.push(atMs / 1_000);
    counts.push(count);
  }
  return { atS, counts };
}

/** How many there were at a moment, by the last count before it; null: not known. @param atMs Unix ms */
export function countAt({ atS, counts }: AudienceSeries, atMs: number): number | null {
  return counts[atS.findLastIndex((pointS) => pointS * 1_000 <= atMs)] ?? null;
}

function gapOf(points: readonly IntervalCount[]): number {
  const distances = points
    .slice(1)
    .map(({ interval }, place) => interval - (points[place]?.interval ?? interval))
    .sort((a, b) => a - b);
  const usualMs = intervalStartMs(distances[(distances.length - 1) >> 1] ?? 0);
  return Math.max(GAP_LEAST_MS, usualMs * GAP_TIMES);
}
