import type { FourbeatError } from './errors.ts';

/** How long to wait before something that failed is tried again: twice as long each time. */
export class BackOff {
  readonly #random: () => number;
  readonly #leastMs: number;
  readonly #mostMs: number;
  #failures = 0;
  /** What the service wished for the last time, ms; 0: nothing. */
  wishMs = 0;

  /**
   * @param leastMs what is due first, ms
   * @param mostMs the most that is due, ms
   */
  constructor(random: () => number, leastMs = 500, mostMs = 15_000) {
    this.#random = random;
    this.#leastMs = leastMs;
    this.#mostMs = mostMs;
  }

  /**
   * It failed. The wait is 50 to 100 % of what is due, so that a crowd that failed as one does not
   * come back as one; and it begins after what the service wished for.
   * @param trouble how it failed, with the service's wish; null: it has none
   * @returns ms
   */
  nextMs(trouble: Pick<FourbeatError, 'retryAfterMs'> | null): number {
    const dueMs = Math.min(this.#mostMs, this.#leastMs * 2 ** this.#failures++);
    this.wishMs = trouble?.retryAfterMs ?? 0;
    return this.wishMs + dueMs * (0.5 + this.#random() / 2);
  }

  /** It worked: the next failure is the first. */
  worked(): void {
    this.#failures = 0;
  }
}
