interface SizeRange {
  /** A size that is assumed to work; 0 for none. */
  readonly min: number;
  /** The largest size to try. */
  readonly max: number;
  /** The precision of the result. */
  readonly step: number;
}

/**
 * Finds the largest size that works, by bisection: it tries `max` first, and assumes that a size works
 * when a larger one does.
 */
export async function findLargest(
  { min, max, step }: SizeRange,
  works: (size: number) => Promise<boolean>,
): Promise<number> {
  if (await works(max)) return max;
  let [low, high] = [min, max];
  while (high - low > step) {
    const middle = low + Math.max(step, Math.round((high - low) / 2 / step) * step);
    if (middle >= high) break;
    if (await works(middle)) low = middle;
    else high = middle;
  }
  return low;
}
