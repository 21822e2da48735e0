/**
 * A histogram of answer times: counts by ms. Times from 2,048 ms on are rounded down to their 11
 * highest bits, an error of less than 0.1 %, so that there are at most 12,000 keys for any number of
 * answers. Times below 0 count as 0. Integer keys of an object are in ascending order.
 */
export type Times = Record<number, number>;

const SIGNIFICANT_BITS = 11;

/** Adds a time to the histogram, in place. */
export function addTime(times: Times, ms: number, count = 1): void {
  const clampedMs = Math.max(0, ms);
  const droppedBits = Math.max(0, 32 - Math.clz32(clampedMs) - SIGNIFICANT_BITS);
  const key = (clampedMs >>> droppedBits) << droppedBits;
  times[key] = (times[key] ?? 0) + count;
}

/** Adds another histogram, in place. */
export function addTimes(times: Times, others: Times): void {
  for (const [ms, count] of Object.entries(others)) addTime(times, Number(ms), count);
}

/** The time by which this share of all answers had arrived; null when there are none. */
export function quantile(times: Times, share: number): number | null {
  const entries = Object.entries(times);
  const target = share * entries.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [ms, count] of entries) {
    seen += count;
    if (seen >= target) return Number(ms);
  }
  return null;
}
