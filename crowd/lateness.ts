const BUCKETS = 2_000;

/** The middle and the last percent of some delays, in ms. */
export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Counts delays by the millisecond; everything from 2 s on counts as 2 s. */
export class Lateness {
  private readonly buckets = new Uint32Array(BUCKETS + 1);
  private total = 0;

  add(ms: number): void {
    const bucket = Math.min(BUCKETS, Math.max(0, Math.round(ms)));
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.total++;
  }

  /** Zeros when nothing was added. */
  percentiles(): Percentiles {
    return { p50Ms: this.at(0.5), p99Ms: this.at(0.99) };
  }

  private at(share: number): number {
    let below = 0;
    for (let ms = 0; ms <= BUCKETS; ms++) {
      below += this.buckets[ms] ?? 0;
      if (below > 0 && below >= share * this.total) return ms;
    }
    return 0;
  }
}

/** The lateness of the last five to ten seconds, whatever came before. */
export class RecentLateness {
  private current = new Lateness();
  private former = new Lateness();
  private turnMs = Number.NEGATIVE_INFINITY;

  add(ms: number, nowMs: number): void {
    if (nowMs - this.turnMs >= TURN_MS) {
      this.former = this.current;
      this.current = new Lateness();
      this.turnMs = nowMs;
    }
    this.current.add(ms);
    this.former.add(ms);
  }

  percentiles(): Percentiles {
    return this.former.percentiles();
  }
}

const TURN_MS = 5_000;
