import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';
import type { EventsInterval } from './types.ts';

// Twice as fast as intervals come: a crowd that catches up asks for at most twice the usual.
const APART_MS = 125;
// A timer that is late by this is made up for.
const LATE_MS = 50;
// As many as come in the 5 s that an answer may take, or slow networks fall behind.
const AT_ONCE_MAX = 20;

/** Asks for intervals one by one, a few at once, and for one alone until that works. */
export class IntervalRequests {
  /** Whether the last answer was good. */
  isWorking = false;
  readonly #env: Environment;
  readonly #calls: Pick<Calls, 'interval'>;
  readonly #backOff: BackOff;
  #underWay = 0;
  #failures = 0;
  #notBeforeMs = 0;

  constructor(env: Environment, calls: Pick<Calls, 'interval'>) {
    this.#env = env;
    this.#calls = calls;
    this.#backOff = new BackOff(env.random);
  }

  /** When the next may be asked for, ms from now; infinite: after an answer. */
  get waitMs(): number {
    const isFull = this.#underWay >= (this.isWorking ? AT_ONCE_MAX : 1);
    return isFull ? Infinity : this.#notBeforeMs - this.#env.monotonicMs();
  }

  /** The service can be reached again: the next may be asked for, unless it wished otherwise. */
  retry(): void {
    if (!this.isWorking && !this.#backOff.wishMs) this.#notBeforeMs = 0;
  }

  /** @throws Trouble, and the next is asked for later */
  async ask(interval: number): Promise<EventsInterval> {
    this.#notBeforeMs = Math.max(this.#notBeforeMs, this.#env.monotonicMs() - LATE_MS) + APART_MS;
    const failures = this.#failures;
    this.#underWay++;
    try {
      const answer = await this.#calls.interval(interval);
      this.isWorking = true;
      this.#backOff.worked();
      return answer;
    } catch (thrown) {
      const trouble = asTrouble(thrown);
      this.isWorking = false;
      // Those that were under way together have failed once.
      if (failures === this.#failures) {
        this.#failures++;
        // Those that are lost with it are not waited for.
        this.#underWay = 0;
        this.#notBeforeMs = this.#env.monotonicMs() + this.#backOff.nextMs(trouble);
      }
      throw trouble;
    } finally {
      if (failures === this.#failures) this.#underWay--;
    }
  }
}
