import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';
import { BackOff } from '../back-off.ts';
import type { Calls } from '../calls.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { asTrouble, type Trouble } from '../errors.ts';
import type { EventsInterval } from '../types.ts';
import type { FeedPlace } from './place.ts';

// Twice as fast as intervals come: a crowd that catches up asks for at most twice the usual.
const APART_MS = 125;
const AT_ONCE_MAX = 8;
// The service holds what is asked for too soon, up to a second.
const ERROR_MAX_MS = 500;
// A single failure that is tried again so soon is nobody's trouble.
const SOON_MS = 2_000;

/** One that is asked for, and its answer. */
interface Asked {
  readonly interval: number;
  answer: EventsInterval | null;
}

/** Asks for each interval when it is over, a few at once, and tells them in order. */
export class Polling {
  /** Whether the last answer was good. */
  isWorking = false;
  private readonly phaseMs: number;
  private readonly backOff: BackOff;
  private asked: Asked[] = [];
  /** On the monotonic clock; nothing is asked before it. */
  private notBeforeMs = 0;
  private isOver = true;
  private callOff = () => {};

  constructor(
    private readonly env: Environment,
    private readonly clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'look'>,
    private readonly calls: Pick<Calls, 'interval'>,
    private readonly place: FeedPlace,
  ) {
    this.phaseMs = env.random() * INTERVAL_MS;
    this.backOff = new BackOff(env.random);
  }

  /** May be called again. */
  start(): void {
    if (!this.isOver) return;
    this.isOver = false;
    this.tick();
  }

  stop(): void {
    this.isOver = true;
    this.isWorking = false;
    this.asked = [];
    this.callOff();
  }

  private tick(): void {
    this.callOff();
    // After a failure one tries for all.
    while (!this.isOver && this.asked.length < (this.isWorking ? AT_ONCE_MAX : 1)) {
      const interval = Math.max(this.place.from, (this.asked.at(-1)?.interval ?? 0) + 1);
      const errorMs = Math.min(this.clock.errorMs, ERROR_MAX_MS);
      const dueMs = intervalStartMs(interval + 1) + errorMs + this.phaseMs;
      const nowMs = this.env.monotonicMs();
      const waitMs = Math.max(dueMs - this.clock.nowMs(), this.notBeforeMs - nowMs);
      if (waitMs > 0) {
        this.callOff = this.env.after(Math.ceil(waitMs), () => this.tick());
        return;
      }
      this.notBeforeMs = nowMs + APART_MS;
      void this.ask(interval);
    }
  }

  private async ask(interval: number): Promise<void> {
    const asked: Asked = { interval, answer: null };
    this.asked.push(asked);
    const trouble = await this.calls.interval(interval).then((answer) => {
      asked.answer = answer;
    }, asTrouble);
    // What was asked before a failure, or a stop, is asked again.
    if (!this.asked.includes(asked)) return;
    if (trouble) this.onTrouble(asked, trouble);
    else this.onAnswer();
    this.tick();
  }

  private onAnswer(): void {
    this.isWorking = true;
    this.backOff.worked();
    while (this.asked[0]?.answer) {
      const { interval, answer } = this.asked[0];
      this.asked.shift();
      this.place.goOnAt(interval);
      this.place.take(answer);
    }
  }

  private onTrouble(failed: Asked, trouble: Trouble): void {
    // It is asked for again, and all after it.
    this.asked.splice(this.asked.indexOf(failed));
    const waitMs = this.backOff.nextMs(trouble.retryAfterMs);
    this.notBeforeMs = this.env.monotonicMs() + waitMs;
    if (!this.isWorking || waitMs > SOON_MS) this.place.fail(trouble);
    this.isWorking = false;
    // Too far ahead is what a clock asks for that is wrong.
    if (trouble.status === 400) this.clock.look();
  }
}
