// What is made of samples. Pure; the tests beside it have the figures.

/** The value that a share of the samples is not above; the smallest for 0. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('there are no samples');
  const sorted = samples.toSorted((a, b) => a - b);
  const at = Math.ceil(share * sorted.length) - 1;
  return sorted[Math.max(0, at)] as number;
}

/** Of an even number of samples, the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  if (low === undefined || high === undefined) throw new Error('there are no samples');
  return (low + high) / 2;
}

/** What a table says of the samples of several rounds. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  return { median: median(samples), least: Math.min(...samples), most: Math.max(...samples) };
}

/**
 * The exponent of a power law through the points, by least squares of the logarithms: 1 means that
 * twice the size costs twice as much, 0 that size costs nothing.
 */
export function exponentOf(points: readonly { size: number; cost: number }[]): number {
  const logs = points.map(({ size, cost }) => [Math.log(size), Math.log(cost)] as const);
  const mean = (axis: 0 | 1) => logs.reduce((sum, log) => sum + log[axis], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const above = logs.reduce((sum, log) => sum + (log[0] - x) * (log[1] - y), 0);
  const below = logs.reduce((sum, log) => sum + (log[0] - x) ** 2, 0);
  if (!(below > 0)) throw new Error('an exponent needs points of different sizes');
  return above / below;
}
