import type { IntervalCount } from '../../protocol/history.ts';
import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';

/** A pause between counts is a gap when it is this many times the median. */
const GAP_FACTOR = 3;
/** Counts arrive once a second; a pause up to this long is no gap. */
const GAP_MIN_MS = 5_000;
const COUNT_PERIOD_MS = 1_000;

/** Chart data: seconds since the start of the show, and counts. A null breaks the line. */
export interface AudienceSeries {
  readonly positionsS: readonly number[];
  readonly counts: readonly (number | null)[];
}

/**
 * The audience over a show. The line breaks where nothing was counted.
 * @param startMs start of the show, Unix ms
 */
export function audienceSeries(points: readonly IntervalCount[], startMs: number): AudienceSeries {
  const gapMs = gapOf(points);
  const positionsS: number[] = [];
  const counts: (number | null)[] = [];
  for (const [index, { interval, count }] of points.entries()) {
    const atMs = intervalStartMs(interval) - startMs;
    const previousMs = intervalStartMs(points[index - 1]?.interval ?? interval) - startMs;
    if (atMs - previousMs > gapMs) {
      positionsS.push((previousMs + COUNT_PERIOD_MS) / 1_000);
      counts.push(null);
    }
    positionsS.push(atMs / 1_000);
    counts.push(count);
  }
  return { positionsS, counts };
}

/** The last count at or before a position; null: unknown. */
export function countAt({ positionsS, counts }: AudienceSeries, positionS: number): number | null {
  return counts[positionsS.findLastIndex((pointS) => pointS <= positionS)] ?? null;
}

function gapOf(points: readonly IntervalCount[]): number {
  const distancesIntervals = points
    .slice(1)
    .map(({ interval }, index) => interval - (points[index]?.interval ?? interval))
    .sort((a, b) => a - b);
  const median = distancesIntervals[(distancesIntervals.length - 1) >> 1] ?? 0;
  return Math.max(GAP_MIN_MS, median * INTERVAL_MS * GAP_FACTOR);
}
