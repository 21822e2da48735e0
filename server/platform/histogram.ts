/** Values by size, and their sum. */
export interface HistogramCounts {
  readonly counts: Float64Array;
  readonly sum: number;
}

/** Counts values by size, cheaply enough for every request; a histogram of Prometheus reads it. */
export class Histogram {
  /** How many values were at most the bound of the same index, and above the one before it. */
  readonly counts: Float64Array;
  /** Sum of all values. */
  sum = 0;

  /** @param bounds upper bounds, rising; larger values go into one more bucket */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] as number)) index++;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }

  /** What was counted, to be added elsewhere; it begins anew. */
  take(): HistogramCounts {
    const taken = { counts: this.counts.slice(), sum: this.sum };
    this.counts.fill(0);
    this.sum = 0;
    return taken;
  }

  /** Adds what another with the same bounds has counted. */
  addAll({ counts, sum }: HistogramCounts): void {
    for (const [index, count] of counts.entries()) {
      this.counts[index] = (this.counts[index] as number) + count;
    }
    this.sum += sum;
  }
}
