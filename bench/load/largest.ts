export interface Range {
  /** What is known, or taken, to hold; 0 for nothing. */
  readonly least: number;
  /** The most that is tried. */
  readonly most: number;
  /** How near two sizes may be. */
  readonly grain: number;
}

/**
 * The largest size that holds, by bisection: the most is tried first, and what holds for a size is
 * taken to hold for smaller ones.
 */
export async function largestThatHolds(
  { least, most, grain }: Range,
  holds: (size: number) => Promise<boolean>,
): Promise<number> {
  if (await holds(most)) return most;
  let [low, high] = [least, most];
  while (high - low > grain) {
    const middle = low + Math.max(grain, Math.round((high - low) / 2 / grain) * grain);
    if (middle >= high) break;
    if (await holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
