import { INTERVAL_MS, intervalAt } from '../protocol/interval.ts';
import type { Calls } from './calls.ts';
import type { Environment } from './environment.ts';
import { IntervalRequests } from './interval-requests.ts';
import type { EventsInterval, HeldEvents, Picture, ScreenListener } from './types.ts';

const LOOK_MS = 50;
// A picture that loads is waited for; one that is away for longer is none.
const PATIENCE_MS = 5_000;
// The clock of a player may tremble.
const BACK = 4;
// Who jumps ahead does not want to see all that is between.
const AHEAD = 20;
// Nobody plays faster; so much of the picture passes when nobody looks, in a page that is hidden.
const PACE = 2;
// What waits: who is further behind can ask for it.
const HELD = (10 * 60_000) / INTERVAL_MS;
// What was on screen: enough for a button that goes back by 10 s.
const KEPT = 30_000 / INTERVAL_MS;
// A picture that plays on while nothing can be asked for: more than this is passed over.
const MISSED = 60_000 / INTERVAL_MS;
// Asked for before it is on screen.
const EARLY = 4;

/** Holds what the feed brings until it is on screen, and asks for what the feed did not bring. */
export class Screen implements HeldEvents {
  readonly #env: Environment;
  readonly #listener: ScreenListener;
  readonly #requests: IntervalRequests;
  readonly #asked = new Set<number>();
  readonly #held = new Map<number, EventsInterval>();
  /** The last one that the feed brought. */
  #newest = -Infinity;
  /** From here on all comes by the feed: what is not held was passed over, or comes yet. */
  #knownFrom = Infinity;
  /** The last one that was on screen; null: none. */
  #shown: number | null = null;
  /** The last one that may be: infinite without a picture. */
  #until = Infinity;
  #picture: Pick<Picture, 'wallClockMs'> | null = null;
  /** Where the picture was when it was seen last; null: it was not. */
  #seen: number | null = null;
  /** When that was, or it was to be, on the monotonic clock. */
  #seenMs = 0;
  #callOff = () => {};

  /**
   * @param calls what brings intervals that the feed did not
   * @param shown what was on screen until now
   */
  constructor(
    env: Environment,
    calls: Pick<Calls, 'interval'>,
    listener: ScreenListener,
    shown: readonly EventsInterval[] = [],
  ) {
    this.#env = env;
    this.#listener = listener;
    this.#requests = new IntervalRequests(env, calls);
    for (const interval of shown) {
      this.#shown = interval.interval;
      this.push(interval);
    }
  }

  push(interval: EventsInterval): void {
    this.#newest = interval.interval;
    this.#knownFrom = Math.min(this.#knownFrom, this.#newest);
    this.#hold(interval);
  }

  replay(): void {
    this.#newest = -Infinity;
    this.#knownFrom = Infinity;
  }

  follow(picture: Pick<Picture, 'wallClockMs'> | null): void {
    this.#callOff();
    this.#picture = picture;
    this.#seen = null;
    this.#seenMs = this.#env.monotonicMs();
    this.#until = this.#shown ?? -Infinity;
    if (picture) this.#look();
    else this.#release();
  }

  stop(): void {
    this.#callOff();
    this.#picture = null;
    this.#until = -Infinity;
    this.#held.clear();
  }

  #look(): void {
    this.#callOff = this.#env.after(LOOK_MS, () => this.#look());
    const nowMs = this.#env.monotonicMs();
    const wallMs = this.#picture?.wallClockMs() ?? null;
    if (wallMs === null) {
      const isAway = nowMs - this.#seenMs >= PATIENCE_MS;
      if (isAway && this.#until < Infinity) this.#release();
      return;
    }
    const at = intervalAt(wallMs);
    const passed = this.#seen === null ? 0 : (nowMs - this.#seenMs) / INTERVAL_MS;
    if (this.#isElsewhere(at, passed)) this.#jump(at);
    this.#seen = at;
    this.#seenMs = nowMs;
    this.#until = at;
    this.#show();
    this.#askUntil(at + EARLY);
    this.#prune();
  }

  /** @param passed how many intervals there was time for since the picture was seen */
  #isElsewhere(at: number, passed: number): boolean {
    if (this.#shown === null) return false;
    const ahead = at - (this.#seen ?? this.#shown);
    return at < this.#shown - BACK || ahead > AHEAD + PACE * passed;
  }

  #jump(to: number): void {
    this.#shown = to - 1;
    this.#listener.onJump(to);
  }

  /** There is no picture: what happens is shown as it comes. */
  #release(): void {
    this.#seen = null;
    this.#until = Infinity;
    // Who was far behind is not shown all that is between.
    if (this.#shown !== null && this.#newest - this.#shown > KEPT) this.#jump(this.#newest);
    this.#show();
    this.#prune();
  }

  #hold(interval: EventsInterval): void {
    this.#held.set(interval.interval, interval);
    this.#show();
    this.#prune();
  }

  /** Shows what may be shown, in order, up to the first that is yet to come. */
  #show(): void {
    if (this.#shown === null) {
      const first = Math.min(this.#until, ...this.#held.keys());
      if (!Number.isFinite(first)) return;
      this.#shown = first - 1;
    }
    for (let next = this.#shown + 1; next <= this.#until; next = this.#shown + 1) {
      const interval = this.#held.get(next);
      if (!interval) {
        const isAsked = next < this.#knownFrom && this.#until < Infinity;
        if (isAsked && this.#until - next > MISSED) {
          this.#jump(this.#until);
          continue;
        }
        if (isAsked || next > this.#newest) return;
      }
      this.#shown = next;
      if (interval) this.#listener.onInterval(interval);
    }
  }

  #askUntil(last: number): void {
    for (let next = (this.#shown ?? last) + 1; next <= last && next < this.#knownFrom; next++) {
      if (this.#held.has(next) || this.#asked.has(next)) continue;
      if (this.#requests.waitMs > 0) return;
      void this.#ask(next);
    }
  }

  async #ask(interval: number): Promise<void> {
    this.#asked.add(interval);
    // What fails is asked for again, if it is still wanted then.
    const answer = await this.#requests.ask(interval).catch(() => null);
    this.#asked.delete(interval);
    if (answer) this.#hold(answer);
  }

  #prune(): void {
    const shown = this.#shown ?? -Infinity;
    for (const interval of this.#held.keys()) {
      const isNear = Math.abs(interval - shown) <= KEPT;
      const isWaiting = interval > shown && interval >= this.#newest - HELD;
      if (isNear || isWaiting) continue;
      this.#held.delete(interval);
      this.#knownFrom = Math.max(this.#knownFrom, interval + 1);
    }
  }
}
