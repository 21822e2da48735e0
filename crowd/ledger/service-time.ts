/** One reading of the service's clock (K-2), between two readings of a clock of our own. */
export interface TimeProbe {
  /** Our clock in ms, just before the request. */
  readonly sentMs: number;
  /** Our clock in ms, just after the answer. */
  readonly receivedMs: number;
  /** The service's clock, whole Unix ms. */
  readonly nowMs: number;
}

// The service slews its clock by at most 1 % (K-5), and our two clocks differ by less than 0.1 %.
const DRIFT_MAX = 0.011;

/**
 * What is known of the service's clock: not one offset but the range it must be in. So it can be said
 * of a request in which intervals it may have arrived, and in which it cannot.
 */
export class ServiceTime {
  private lowMs = Number.NEGATIVE_INFINITY;
  private highMs = Number.POSITIVE_INFINITY;
  private updatedMs = 0;

  /**
   * Narrows the range by a probe.
   * @returns false when it contradicts what was known: the service's clock was stepped, and only
   *   this probe counts from here on.
   */
  update({ sentMs, receivedMs, nowMs }: TimeProbe): boolean {
    const widenMs = Math.abs(receivedMs - this.updatedMs) * DRIFT_MAX;
    const driftMs = (receivedMs - sentMs) * DRIFT_MAX;
    const probedLow = nowMs - receivedMs - driftMs;
    const probedHigh = nowMs + 1 - sentMs + driftMs;
    const low = Math.max(this.lowMs - widenMs, probedLow);
    const high = Math.min(this.highMs + widenMs, probedHigh);
    const agrees = low <= high;
    this.lowMs = agrees ? low : probedLow;
    this.highMs = agrees ? high : probedHigh;
    this.updatedMs = receivedMs;
    return agrees;
  }

  /** The earliest that service time can be at a moment of our clock, Unix ms. */
  earliestMs(atMs: number): number {
    return atMs + this.lowMs - Math.abs(atMs - this.updatedMs) * DRIFT_MAX;
  }

  /** The latest that service time can be at a moment of our clock, Unix ms. */
  latestMs(atMs: number): number {
    return atMs + this.highMs + Math.abs(atMs - this.updatedMs) * DRIFT_MAX;
  }

  /** The best guess of service time at a moment of our clock, Unix ms. */
  likelyMs(atMs: number): number {
    return atMs + (this.lowMs + this.highMs) / 2;
  }

  /** Our clock at a moment of service time, by the best guess. */
  localMs(serviceMs: number): number {
    return serviceMs - (this.lowMs + this.highMs) / 2;
  }
}
