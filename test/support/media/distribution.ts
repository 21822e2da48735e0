/** How numbers are spread, for a line of a test's output. */
export interface Distribution {
  readonly count: number;
  readonly least: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

/** @param values at least one */
export function distributionOf(values: readonly number[]): Distribution {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return {
    count: sorted.length,
    least: sorted[0] ?? Number.NaN,
    median: at(0.5),
    p99: at(0.99),
    most: sorted.at(-1) ?? Number.NaN,
  };
}

/** The same as text, in whole units. */
export function shownDistribution(values: readonly number[], unit: string): string {
  const { count, least, median, p99, most } = distributionOf(values);
  const [a, b, c, d] = [least, median, p99, most].map(Math.round);
  return `${count} values: least ${a}, median ${b}, p99 ${c}, most ${d} ${unit}`;
}
