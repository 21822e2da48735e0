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
export function exponentOf<T>(
  points: readonly T[],
  sizeOf: (point: T) => number,
  costOf: (point: T) => number,
): number {
  const logOf = (of: (point: T) => number) => (point: T) => Math.log(of(point));
  return fitLine(points, logOf(sizeOf), logOf(costOf)).slope;
}

/** The line `y = start + slope * x` through points, by least squares. */
export function fitLine<T>(
  points: readonly T[],
  xOf: (point: T) => number,
  yOf: (point: T) => number,
): { start: number; slope: number } {
  const mean = (of: (point: T) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(xOf), mean(yOf)];
  const covariance = points.reduce((sum, point) => sum + (xOf(point) - x) * (yOf(point) - y), 0);
  const variance = points.reduce((sum, point) => sum + (xOf(point) - x) ** 2, 0);
  if (!(variance > 0)) throw new Error('a line needs points of different sizes');
  const slope = covariance / variance;
  return { start: y - slope * x, slope };
}
