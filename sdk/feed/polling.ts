import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';
import type { Calls } from '../calls.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { FourbeatError } from '../errors.ts';
import { IntervalRequests } from '../interval-requests.ts';
import type { EventsInterval } from '../types.ts';
import type { FeedPlace } from './place.ts';

// The service holds what is asked for too soon, up to a second.
const ERROR_MAX_MS = 500;
// A single failure that came so soon, and is tried again so soon, is nobody's trouble.
const SOON_MS = 2_000;

/** One that is asked for, and its answer. */
interface Asked {
  readonly interval: number;
  /** On the monotonic clock. */
  readonly sentMs: number;
  answer: EventsInterval | null;
}

/** Asks for each interval when it is over, and tells them in order. */
export class Polling {
  readonly #env: Environment;
  readonly #clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'look'>;
  readonly #place: FeedPlace;
  readonly #requests: IntervalRequests;
  readonly #phaseMs: number;
  #asked: Asked[] = [];
  #isOver = true;
  #callOff = () => {};

  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'look'>,
    calls: Pick<Calls, 'interval'>,
    place: FeedPlace,
  ) {
    this.#env = env;
    this.#clock = clock;
    this.#place = place;
    this.#requests = new IntervalRequests(env, calls);
    this.#phaseMs = env.random() * INTERVAL_MS;
  }

  /** Whether it brings the feed. */
  get isWorking(): boolean {
    return !this.#isOver && this.#requests.isWorking;
  }

  /** May be called again. */
  start(): void {
    if (!this.#isOver) return;
    this.#isOver = false;
    this.#requests.isWorking = false;
    this.#tick();
  }

  /** The service can be reached again. */
  retry(): void {
    this.#requests.retry();
    this.#tick();
  }

  stop(): void {
    this.#isOver = true;
    this.#asked = [];
    this.#callOff();
  }

  #tick(): void {
    this.#callOff();
    while (!this.#isOver) {
      const interval = Math.max(this.#place.from, (this.#asked.at(-1)?.interval ?? 0) + 1);
      const errorMs = Math.min(this.#clock.errorMs, ERROR_MAX_MS);
      const dueMs = intervalStartMs(interval + 1) + errorMs + this.#phaseMs;
      const waitMs = Math.max(dueMs - this.#clock.nowMs(), this.#requests.waitMs);
      if (waitMs > 0) {
        // An answer goes on with those that wait for one.
        if (waitMs < Infinity) {
          this.#callOff = this.#env.after(Math.ceil(waitMs), () => this.#tick());
        }
        return;
      }
      void this.#ask({ interval, sentMs: this.#env.monotonicMs(), answer: null });
    }
  }

  async #ask(asked: Asked): Promise<void> {
    const wasWorking = this.#requests.isWorking;
    this.#asked.push(asked);
    try {
      asked.answer = await this.#requests.ask(asked.interval);
    } catch (trouble) {
      if (this.#asked.includes(asked)) this.#fail(asked, trouble as FourbeatError, wasWorking);
    }
    this.#tell();
    this.#tick();
  }

  #tell(): void {
    for (let [first] = this.#asked; first?.answer; [first] = this.#asked) {
      this.#asked.shift();
      this.#place.goOnAt(first.interval);
      this.#place.take(first.answer);
    }
  }

  #fail(failed: Asked, trouble: FourbeatError, wasWorking: boolean): void {
    // It is asked for again, and all after it.
    this.#asked.splice(this.#asked.indexOf(failed));
    const lostMs = this.#env.monotonicMs() - failed.sentMs + (trouble.retryAfterMs ?? 0);
    if (!wasWorking || lostMs > SOON_MS) this.#place.fail(trouble);
    // Too far ahead is what a clock asks for that is wrong.
    if (trouble.status === 400) this.#clock.look();
  }
}
