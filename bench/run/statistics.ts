// Statistics of samples.

/** The quantile of the samples for a share; the minimum for 0. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('there are no samples');
  const sorted = samples.toSorted((a, b) => a - b);
  const at = Math.ceil(share * sorted.length) - 1;
  return sorted[Math.max(0, at)] as number;
}

/** The median; the mean of the two middle values for an even number of samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  if (low === undefined || high === undefined) throw new Error('there are no samples');
  return (low + high) / 2;
}

/** Minimum, median and maximum of the samples of several rounds. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  return { median: median(samples), least: Math.min(...samples), most: Math.max(...samples) };
}

/**
 * The exponent of a power law through the points, by least squares of the logarithms. 1 means that the
 * cost is proportional to the size, 0 that it is constant.
 */
export function exponentOf(points: readonly { size: number; cost: number }[]): number {
  return lineThrough(points.map(({ size, cost }) => ({ x: Math.log(size), y: Math.log(cost) })))
    .slope;
}

/** The line `y = start + slope * x` through points, by least squares. */
export function lineThrough(points: readonly { x: number; y: number }[]): {
  start: number;
  slope: number;
} {
  const mean = (axis: 'x' | 'y') =>
    points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean('x'), mean('y')];
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  const below = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  if (!(below > 0)) throw new Error('a line needs points of different sizes');
  const slope = above / below;
  return { start: y - slope * x, slope };
}
