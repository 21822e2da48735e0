export interface Distribution {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** Summarizes numbers. @param values at least one */
export function distributionOf(values: readonly number[]): Distribution {
  const sorted = values.toSorted((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return {
    count: sorted.length,
    min: sorted[0] ?? Number.NaN,
    median: percentile(0.5),
    p99: percentile(0.99),
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/** Formats a distribution, rounded to whole units. */
export function formatDistribution(values: readonly number[], unit: string): string {
  const { count, min, median, p99, max } = distributionOf(values);
  const [a, b, c, d] = [min, median, p99, max].map(Math.round);
  return `${count} values: min ${a}, median ${b}, p99 ${c}, max ${d} ${unit}`;
}
