import { intervalStartMs } from '../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../protocol/limits.ts';
import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { ServiceClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';
import type { Waits } from './waits.ts';

/** Those who have won do not report at once. */
const SPREAD_MS = 500;
const BACK_OFF = { leastMs: 200, mostMs: 500 };
/** A service that is late takes reports for longer. */
const LATE_MS = 1_000;

/** Reports a winner. */
export class WinnerReports {
  readonly #env: Environment;
  readonly #clock: Pick<ServiceClock, 'nowMs'>;
  readonly #calls: Pick<Calls, 'recordWinner'>;
  readonly #waits: Waits;

  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs'>,
    calls: Pick<Calls, 'recordWinner'>,
    waits: Waits,
  ) {
    this.#env = env;
    this.#clock = clock;
    this.#calls = calls;
    this.#waits = waits;
  }

  /**
   * @param interval of `request-quiz-winners`
   * @returns whether the service counts this viewer
   * @throws Trouble `left`
   */
  async report(interval: number): Promise<boolean> {
    // Reports are taken until the interval that tells their number is over (SPEC W-4).
    const endMs = intervalStartMs(interval + WINNERS_DELAY_INTERVALS + 1);
    const leftMs = endMs - this.#clock.nowMs();
    if (leftMs < -LATE_MS) return false;
    await this.#waits.wait(this.#env.random() * Math.min(SPREAD_MS, Math.max(0, leftMs / 2)));
    const backOff = new BackOff(this.#env.random, BACK_OFF);
    for (;;) {
      const trouble = await this.#calls.recordWinner().then(() => null, asTrouble);
      if (!trouble) return true;
      const ms = backOff.nextMs(trouble.retryAfterMs);
      if (!trouble.isPassing || this.#clock.nowMs() + ms > endMs + LATE_MS) return false;
      await this.#waits.wait(ms);
    }
  }
}
