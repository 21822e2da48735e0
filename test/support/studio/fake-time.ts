/** Time that a test moves, with what waits in it. */
export class FakeTime {
  readonly #timers = new Set<{ readonly atMs: number; readonly then: () => void }>();
  #nowMs = 0;

  nowMs = (): number => this.#nowMs;

  /** How much waits. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** As `ConnectionEnvironment.after`. @returns what calls it off */
  after = (ms: number, then: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + ms, then };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Time goes on; what waits happens at its moment, also what came to wait meanwhile. */
  pass = (ms: number): void => {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].toSorted((a, b) => a.atMs - b.atMs);
      if (!next || next.atMs > untilMs) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.then();
    }
    this.#nowMs = untilMs;
  };
}
