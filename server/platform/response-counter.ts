import type { Operation } from '../../protocol/operation.ts';
import { runtime } from './runtime.ts';

/** Counts by bucket, and the sum of all values. */
export interface HistogramCounts {
  readonly counts: Float64Array;
  readonly sum: number;
}

/** A histogram that is cheap enough to record every request. */
export class Histogram {
  /** Number of values up to the bound of the same index and above the previous bound. */
  readonly counts: Float64Array;
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

// A long poll takes up to 1.25 s.
const DURATION_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Responses by status, and a histogram of the seconds until they started. */
export interface ResponseCounts {
  readonly statuses: readonly (readonly [status: number, count: number])[];
  readonly durations: HistogramCounts;
}

/** Counts the responses of one operation, without a label lookup on the hot path. */
export class ResponseCounter {
  /** Number of responses; the index is the status. Most operations have none, or of few statuses. */
  readonly counts: number[] = [];
  /** Seconds until the response started. */
  readonly durations = new Histogram(DURATION_BOUNDS_S);

  constructor(readonly operation: Operation) {}

  /** @param startedMs when the request arrived, by `runtime.monotonicMs` */
  count(status: number, startedMs: number): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    this.durations.add((runtime.monotonicMs() - startedMs) / 1000);
  }

  /** Returns the counts and resets them. */
  take(): ResponseCounts {
    const statuses: [number, number][] = [];
    this.counts.forEach((count, status) => {
      if (count > 0) statuses.push([status, count]);
      this.counts[status] = 0;
    });
    return { statuses, durations: this.durations.drain() };
  }

  /** Adds the counts of another counter of the operation. */
  merge({ statuses, durations }: ResponseCounts): void {
    for (const [status, count] of statuses) {
      this.counts[status] = (this.counts[status] ?? 0) + count;
    }
    this.durations.merge(durations);
  }

  /** Counts a response with duration 0: reading the clock would take longer than the response. */
  countImmediate(status: number): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    this.durations.add(0);
  }
}
