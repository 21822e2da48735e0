/**
 * How many answers took how long: counts by ms. Times from 2,048 ms on are rounded down to the 11
 * highest bits of theirs, which is less than 0.1 %, so that there are at most 12,000 of them however
 * many answers there are. One below 0 counts as 0. As the keys are whole numbers, they are in order.
 */
export type Times = Record<number, number>;

const BITS_KEPT = 11;

/** Counts a time, in place. */
export function addTime(times: Times, ms: number, count = 1): void {
  const from0 = Math.max(0, ms);
  const dropped = Math.max(0, 32 - Math.clz32(from0) - BITS_KEPT);
  const key = (from0 >>> dropped) << dropped;
  times[key] = (times[key] ?? 0) + count;
}

/** Adds all times of others, in place. */
export function addTimes(times: Times, others: Times): void {
  for (const [ms, count] of Object.entries(others)) addTime(times, Number(ms), count);
}

/** The time by which this share of all came; null when there are none. */
export function quantile(times: Times, share: number): number | null {
  const entries = Object.entries(times);
  const wanted = share * entries.reduce((sum, [, count]) => sum + count, 0);
  let passed = 0;
  for (const [ms, count] of entries) {
    passed += count;
    if (passed >= wanted) return Number(ms);
  }
  return null;
}
