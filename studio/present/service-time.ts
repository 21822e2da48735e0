/** How many states are looked at: ten seconds of them. */
const STATES_MAX = 20;

/**
 * The service's time, from states that say when they were made. None comes before it was made: the
 * one that took the least way says the most.
 */
export class ServiceTime {
  readonly #monotonicMs: () => number;
  readonly #offsets: number[] = [];

  /** @param monotonicMs of the machine, in ms */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** A state has come. @param nowMs when it was made, by the service */
  hear(nowMs: number): void {
    this.#offsets.push(nowMs - this.#monotonicMs());
    if (this.#offsets.length > STATES_MAX) this.#offsets.shift();
  }

  /** Unix ms. Without any state it is not known, and 0. */
  nowMs(): number {
    return this.#offsets.length === 0 ? 0 : Math.max(...this.#offsets) + this.#monotonicMs();
  }
}
