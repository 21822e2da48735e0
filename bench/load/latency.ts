import { build, type Histogram } from 'hdr-histogram-js';

/** What a histogram of latencies comes to. */
export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly mostMs: number;
}

const MOST_US = 60_000_000;

/** Latencies from the moment that was meant, in µs, to three digits. */
export function latencyHistogram(): Histogram {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MOST_US,
    numberOfSignificantValueDigits: 3,
  });
}

export function record(histogram: Histogram, latencyMs: number): void {
  const us = Math.round(latencyMs * 1_000);
  histogram.recordValue(us < 1 ? 1 : us > MOST_US ? MOST_US : us);
}

export function latenciesOf(histogram: Histogram): Latencies {
  const ms = (percent: number) => histogram.getValueAtPercentile(percent) / 1_000;
  return { p50Ms: ms(50), p99Ms: ms(99), p999Ms: ms(99.9), mostMs: histogram.maxValue / 1_000 };
}
