/** Samples of the last ten seconds. */
const SAMPLES_MAX = 20;

/**
 * Estimates the service's time from the timestamps of states. A state arrives after it was made, so
 * the sample with the lowest delay is the best.
 */
export class ServiceClock {
  readonly #monotonicMs: () => number;
  readonly #offsets: number[] = [];

  /** @param monotonicMs monotonic clock of this machine */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Adds the timestamp of a state that just arrived, Unix ms. */
  addSample(nowMs: number): void {
    this.#offsets.push(nowMs - this.#monotonicMs());
    if (this.#offsets.length > SAMPLES_MAX) this.#offsets.shift();
  }

  /** The service's time, Unix ms; 0 without samples. */
  nowMs(): number {
    return this.#offsets.length === 0 ? 0 : Math.max(...this.#offsets) + this.#monotonicMs();
  }
}
