const DELAY_MAX_MS = 2_000;

/** Median and 99th percentile of delays, in ms. */
export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A histogram of delays by millisecond; delays above 2 s count as 2 s. */
export class DelayHistogram {
  private readonly buckets = new Uint32Array(DELAY_MAX_MS + 1);
  private total = 0;

  add(ms: number): void {
    const bucket = Math.min(DELAY_MAX_MS, Math.max(0, Math.round(ms)));
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.total++;
  }

  /** The percentiles; 0 when the histogram is empty. */
  percentiles(): Percentiles {
    return { p50Ms: this.percentileMs(0.5), p99Ms: this.percentileMs(0.99) };
  }

  private percentileMs(share: number): number {
    let below = 0;
    for (let ms = 0; ms <= DELAY_MAX_MS; ms++) {
      below += this.buckets[ms] ?? 0;
      if (below > 0 && below >= share * this.total) return ms;
    }
    return 0;
  }
}

/** Delays of the last 5 to 10 s: `previous` also gets the new delays, and is dropped after 10 s. */
export class RecentDelays {
  private current = new DelayHistogram();
  private previous = new DelayHistogram();
  private rotatedMs = Number.NEGATIVE_INFINITY;

  add(ms: number, nowMs: number): void {
    if (nowMs - this.rotatedMs >= ROTATE_MS) {
      this.previous = this.current;
      this.current = new DelayHistogram();
      this.rotatedMs = nowMs;
    }
    this.current.add(ms);
    this.previous.add(ms);
  }

  percentiles(): Percentiles {
    return this.previous.percentiles();
  }
}

const ROTATE_MS = 5_000;
