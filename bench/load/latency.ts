import { build, type Histogram } from 'hdr-histogram-js';

/** Percentiles of a histogram. */
export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const MAX_US = 60_000_000;

/** An empty histogram of times in µs, with three significant digits. */
export function latencyHistogram(): Histogram {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_US,
    numberOfSignificantValueDigits: 3,
  });
}

export function record(histogram: Histogram, latencyMs: number): void {
  const us = Math.round(latencyMs * 1_000);
  histogram.recordValue(us < 1 ? 1 : us > MAX_US ? MAX_US : us);
}

export function latenciesOf(histogram: Histogram): Latencies {
  const ms = (percent: number) => histogram.getValueAtPercentile(percent) / 1_000;
  return { p50Ms: ms(50), p99Ms: ms(99), maxMs: histogram.maxValue / 1_000 };
}
