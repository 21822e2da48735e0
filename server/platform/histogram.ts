/** Counts by bucket, and the sum of all values. */
export interface HistogramCounts {
  readonly counts: Float64Array;
  readonly sum: number;
}

/** A histogram that is cheap enough to record every request. */
export class Histogram {
  /** Values at most the bound of the same index, and above the bound before it. */
  readonly counts: Float64Array;
  /** Sum of all values. */
  sum = 0;

  /** @param bounds upper bounds, ascending; one more bucket takes larger values */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] as number)) index++;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }

  /** Returns the counts and resets them to 0. */
  drain(): HistogramCounts {
    const drained = { counts: this.counts.slice(), sum: this.sum };
    this.counts.fill(0);
    this.sum = 0;
    return drained;
  }

  /** Adds the counts of a histogram with the same bounds. */
  merge({ counts, sum }: HistogramCounts): void {
    for (const [index, count] of counts.entries()) {
      this.counts[index] = (this.counts[index] as number) + count;
    }
    this.sum += sum;
  }
}
