import { Backoff } from '../../sdk/back-off.ts';

/** The first delay; long enough that an audience does not poll for a late stream in step. */
const FIRST_DELAY_MS = 2_000;

/** Schedules retries with increasing, random delays, one at a time. */
export class RetryTimer {
  readonly #backoff = new Backoff(Math.random, FIRST_DELAY_MS);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Schedules the next retry in place of a scheduled one. */
  schedule(retry: () => void): void {
    this.cancel();
    this.#timer = setTimeout(retry, this.#backoff.nextMs(null));
  }

  /** Records a success. */
  reset(): void {
    this.#backoff.reset();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
