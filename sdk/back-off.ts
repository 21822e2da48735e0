import type { FourbeatError } from './errors.ts';

/** Exponential backoff with jitter. */
export class Backoff {
  readonly #random: () => number;
  readonly #minMs: number;
  readonly #maxMs: number;
  #failures = 0;
  /** The service's last `Retry-After`, ms; 0: none. */
  requestedMs = 0;

  /**
   * @param minMs delay after the first failure, before jitter
   * @param maxMs maximum delay, before jitter
   */
  constructor(random: () => number, minMs = 500, maxMs = 15_000) {
    this.#random = random;
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  /**
   * Records a failure. The wait is `Retry-After` plus 50 to 100 % of the delay, so that a crowd that
   * failed together does not retry together.
   * @param error with the service's `Retry-After`; null: none
   * @returns the time to wait, ms
   */
  nextMs(error: Pick<FourbeatError, 'retryAfterMs'> | null): number {
    const delayMs = Math.min(this.#maxMs, this.#minMs * 2 ** this.#failures++);
    this.requestedMs = error?.retryAfterMs ?? 0;
    return this.requestedMs + delayMs * (0.5 + this.#random() / 2);
  }

  /** Records a success: the next failure counts as the first. */
  reset(): void {
    this.#failures = 0;
  }
}
