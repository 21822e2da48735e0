import { BackOff } from '../../sdk/back-off.ts';

/** A show whose picture is long in coming is not asked for by its whole audience in step. */
const LEAST_MS = 2_000;

/** Tries again what failed: later each time, one try at a time. */
export class Again {
  readonly #backOff = new BackOff(Math.random, LEAST_MS);
  #trying: ReturnType<typeof setTimeout> | undefined;

  /** It failed. @param run the next try */
  later(run: () => void): void {
    this.stop();
    this.#trying = setTimeout(run, this.#backOff.nextMs(null));
  }

  /** The next failure is the first. */
  worked(): void {
    this.#backOff.worked();
  }

  /** What was to be tried is not. */
  stop(): void {
    clearTimeout(this.#trying);
  }
}
