import type { Clock } from '../../platform/clock.ts';
import { runtime } from '../../platform/runtime.ts';

// Only the main thread has the clock of service time. Each worker measures the offset between the
// monotonic clocks of both threads once; after that, one shared number gives it service time.

/** The largest rate at which service time drifts from the monotonic clock: 1 % slewing and a margin. */
const DRIFT = 0.011;

/** Publishes to other threads how far service time is ahead of this thread's `runtime.monotonicMs`. */
export class ClockPublisher {
  readonly memory = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  #publishedAtMs: number | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly monotonicMs: () => number = () => runtime.monotonicMs(),
  ) {
    this.publish();
  }

  /** Updates the shared number. Call it several times a second. */
  publish(): void {
    const nowMs = this.monotonicMs();
    const aheadMs = this.clock.nowMs() - nowMs;
    const [publishedMs = 0] = this.memory;
    // The clock gives whole milliseconds, rounded down: the largest of several readings is the most
    // accurate, and none is ahead of the clock.
    const minAheadMs =
      this.#publishedAtMs === null ? aheadMs : publishedMs - DRIFT * (nowMs - this.#publishedAtMs);
    this.memory[0] = Math.max(aheadMs, minAheadMs);
    this.#publishedAtMs = nowMs;
  }
}

/** Service time in another thread. It never goes back. */
export class ClockFollower implements Clock {
  #lastMs = 0;

  /** @param offsetMs the main thread's `runtime.monotonicMs` minus that of this thread */
  constructor(
    private readonly memory: Float64Array,
    private readonly offsetMs: number,
    private readonly monotonicMs: () => number = () => runtime.monotonicMs(),
  ) {}

  nowMs(): number {
    const nowMs = Math.floor(this.monotonicMs() + this.offsetMs + (this.memory[0] as number));
    if (nowMs > this.#lastMs) this.#lastMs = nowMs;
    return this.#lastMs;
  }
}

const SAMPLES = 12;

/**
 * The main thread's `runtime.monotonicMs` minus that of this thread, in ms, by the sample with the shortest
 * round trip.
 * @param ask gets the main thread's `runtime.monotonicMs`
 */
export async function measureClockOffset(ask: () => Promise<number>): Promise<number> {
  let shortestMs = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const sentMs = runtime.monotonicMs();
    const remoteMs = await ask();
    const roundTripMs = runtime.monotonicMs() - sentMs;
    if (roundTripMs >= shortestMs) continue;
    shortestMs = roundTripMs;
    offsetMs = remoteMs - (sentMs + roundTripMs / 2);
  }
  return offsetMs;
}
