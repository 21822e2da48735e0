import { intervalStartMs } from '../protocol/interval.ts';
import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { ServiceClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { asTrouble, type Trouble } from './errors.ts';
import type { Quiz } from './types.ts';
import type { AnswerOutcome } from './viewer.ts';
import type { Waits } from './waits.ts';

/** Waits are half of these and more: from 0.2 s on. */
const BACK_OFF = { leastMs: 400, mostMs: 1_000 };
/** The service still knows after the close what it has taken; so long it is asked. */
const AFTER_CLOSE_MS = 3_000;

/**
 * Sends answers until it is known what became of them. The same answer again does no harm and tells
 * the truth, also after the close (SPEC Q-13).
 */
export class Answers {
  readonly #env: Environment;
  readonly #clock: Pick<ServiceClock, 'nowMs' | 'errorMs'>;
  readonly #calls: Pick<Calls, 'answer'>;
  readonly #waits: Waits;

  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'errorMs'>,
    calls: Pick<Calls, 'answer'>,
    waits: Waits,
  ) {
    this.#env = env;
    this.#clock = clock;
    this.#calls = calls;
    this.#waits = waits;
  }

  /** @throws Trouble that does not pass: `refused`, `unknown`, `left` */
  async send(quiz: Quiz, choice: string): Promise<AnswerOutcome> {
    const closeMs = intervalStartMs(quiz.closeInterval);
    const untilMs = closeMs + AFTER_CLOSE_MS;
    const backOff = new BackOff(this.#env.random, BACK_OFF);
    // Whether a try may have reached the service that no answer came to.
    let mayCount = false;
    for (;;) {
      const isLast = this.#clock.nowMs() >= untilMs;
      const trouble = await this.#try(quiz, choice);
      if (!trouble) return 'counted';
      if (trouble.status === 409) {
        if (this.#clock.nowMs() + this.#clock.errorMs < closeMs) return 'other-answer';
        // What came before it may still be on its way through the service.
        if (isLast || !mayCount) return 'too-late';
      } else if (!trouble.isPassing && trouble.kind !== 'denied') {
        throw trouble;
      }
      mayCount ||= trouble.kind === 'away';
      const leftMs = untilMs - this.#clock.nowMs();
      if (isLast || (trouble.retryAfterMs ?? 0) > leftMs) return mayCount ? 'unknown' : 'too-late';
      // The last try is at the end, and after a sleep.
      await this.#waits.wait(Math.min(backOff.nextMs(trouble.retryAfterMs), Math.max(0, leftMs)));
    }
  }

  #try(quiz: Quiz, choice: string): Promise<Trouble | null> {
    return this.#calls.answer(quiz, choice).then(() => null, asTrouble);
  }
}
