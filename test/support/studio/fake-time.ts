/** A fake clock with timers. */
export class FakeTime {
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  #nowMs = 0;

  nowMs = (): number => this.#nowMs;

  /** Number of pending timers. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Calls back after `ms`, as `ConnectionEnvironment.after` does. @returns cancels the timer */
  after = (ms: number, callback: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Advances the clock and runs due timers, including those that callbacks start. */
  advance = (ms: number): void => {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].toSorted((a, b) => a.atMs - b.atMs);
      if (!next || next.atMs > untilMs) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.callback();
    }
    this.#nowMs = untilMs;
  };
}
