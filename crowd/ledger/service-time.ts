/** One read of the service's clock (K-2), between two reads of the local clock. */
export interface TimeProbe {
  /** Local clock just before the request, ms. */
  readonly sentMs: number;
  /** Local clock just after the response, ms. */
  readonly receivedMs: number;
  /** The service's clock, whole Unix ms. */
  readonly nowMs: number;
}

// The service slews its clock by at most 1 % (K-5), and the two clocks differ by less than 0.1 %.
const DRIFT_MAX = 0.011;

/**
 * Bounds of the service's clock relative to the local one. Bounds, unlike a single offset, prove
 * in which intervals a request can have arrived.
 */
export class ServiceTime {
  private lowMs = Number.NEGATIVE_INFINITY;
  private highMs = Number.POSITIVE_INFINITY;
  private updatedMs = 0;

  /**
   * Narrows the bounds by a probe.
   * @returns false when it contradicts the bounds: the service's clock was stepped, and the bounds
   *   start over from this probe
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

  /** Lower bound of service time at a local time, Unix ms. */
  earliestMs(atMs: number): number {
    return atMs + this.lowMs - Math.abs(atMs - this.updatedMs) * DRIFT_MAX;
  }

  /** Upper bound of service time at a local time, Unix ms. */
  latestMs(atMs: number): number {
    return atMs + this.highMs + Math.abs(atMs - this.updatedMs) * DRIFT_MAX;
  }

  /** Estimate of service time at a local time, Unix ms. */
  estimateMs(atMs: number): number {
    return atMs + (this.lowMs + this.highMs) / 2;
  }

  /** Estimate of the local time at a service time. */
  localMs(serviceMs: number): number {
    return serviceMs - (this.lowMs + this.highMs) / 2;
  }
}
