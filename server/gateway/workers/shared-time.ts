import type { Clock } from '../../platform/clock.ts';

// Service time is that of the main thread's clock. Other threads have no clock in common with it, so
// each finds out how far its own is off; then they need to be told one number.

/** The most that service time moves against the monotonic clock, as a share of the time that passes. */
const DRIFT = 0.011;

/** Tells other threads service time: how far it is ahead of this thread's `performance.now`. */
export class ClockPublisher {
  readonly memory = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  #saidAtMs: number | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly monotonicMs: () => number = () => performance.now(),
  ) {
    this.tell();
  }

  /** To be called several times a second. */
  tell(): void {
    const nowMs = this.monotonicMs();
    const aheadMs = this.clock.nowMs() - nowMs;
    const [saidMs = 0] = this.memory;
    // The clock tells whole milliseconds. So of several readings the one that is furthest ahead is
    // right, and none is ahead of the clock.
    const leastMs = this.#saidAtMs === null ? aheadMs : saidMs - DRIFT * (nowMs - this.#saidAtMs);
    this.memory[0] = Math.max(aheadMs, leastMs);
    this.#saidAtMs = nowMs;
  }
}

/** Service time in another thread. It never goes back. */
export class ClockFollower implements Clock {
  #lastMs = 0;

  /** @param aheadMs how far the main thread's `performance.now` is ahead of that of this thread */
  constructor(
    private readonly memory: Float64Array,
    private readonly aheadMs: number,
    private readonly monotonicMs: () => number = () => performance.now(),
  ) {}

  nowMs(): number {
    const nowMs = Math.floor(this.monotonicMs() + this.aheadMs + (this.memory[0] as number));
    if (nowMs > this.#lastMs) this.#lastMs = nowMs;
    return this.#lastMs;
  }
}

const READINGS = 12;

/**
 * How far the main thread's `performance.now` is ahead of that of this thread, by the reading of
 * least round trip.
 * @param ask gives the main thread's
 */
export async function measureAhead(ask: () => Promise<number>): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  let aheadMs = 0;
  for (let reading = 0; reading < READINGS; reading += 1) {
    const sentMs = performance.now();
    const toldMs = await ask();
    const tookMs = performance.now() - sentMs;
    if (tookMs >= bestMs) continue;
    bestMs = tookMs;
    aheadMs = toldMs - (sentMs + tookMs / 2);
  }
  return aheadMs;
}
