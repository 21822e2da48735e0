import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import type { ServiceClock } from '../clock.ts';
import type { FourbeatError } from '../errors.ts';
import type { EventsInterval } from '../types.ts';

export type FeedState = 'live' | 'catching-up' | 'offline';

/** Who hears of the feed. What these throw is theirs to catch. */
export interface FeedListener {
  /** Each interval, in order, once. */
  onInterval(interval: EventsInterval): void;
  /** When it changed. @param trouble why it is `offline` */
  onState(state: FeedState, trouble: FourbeatError | null): void;
  /** These intervals, both included, are passed over. */
  onGap(from: number, to: number): void;
}

// The count comes once a second: who joins does not wait for it.
const FIRST_BEHIND = 4;
// Less than this behind is a slow network.
const LIVE_MS = 3_000;
// A poll comes late by the clock's error, its phase and its way.
const CATCH_UP_LEAST_MS = 5_000;
// While it is caught up, the oldest that is wanted must not become too old.
const GRACE_MS = 5_000;

/** How far the feed is told, however it comes. */
export class FeedPlace {
  readonly #clock: Pick<ServiceClock, 'nowMs'>;
  readonly #listener: FeedListener;
  /** The interval that is told next; 0 before it is known. */
  next = 0;
  #told: FeedState | null = null;
  #trouble: FourbeatError | null = null;
  readonly #catchUpMs: number;

  constructor(clock: Pick<ServiceClock, 'nowMs'>, catchUpMs: number, listener: FeedListener) {
    this.#clock = clock;
    this.#listener = listener;
    this.#catchUpMs = Math.max(catchUpMs, CATCH_UP_LEAST_MS);
  }

  /** Where to go on now. */
  get from(): number {
    const nowMs = this.#clock.nowMs();
    if (!this.next) return intervalAt(nowMs) - FIRST_BEHIND;
    return Math.max(this.next, intervalAt(nowMs - this.#catchUpMs));
  }

  /** Whether an interval is so old that it, and more, is passed over: the machine slept. */
  isTooOld(interval: number): boolean {
    return this.#clock.nowMs() - intervalStartMs(interval) > this.#catchUpMs + GRACE_MS;
  }

  /** The service goes on here: what is before it and was not told is not told any more. */
  goOnAt(interval: number): void {
    const { next } = this;
    if (interval <= next) return;
    this.next = interval;
    if (next) this.#listener.onGap(next, interval - 1);
  }

  /** Tells it, if it is news. */
  take(interval: EventsInterval): void {
    if (interval.interval < this.next) return;
    this.next = interval.interval + 1;
    const behindMs = this.#clock.nowMs() - intervalStartMs(this.next);
    this.#tell(behindMs > LIVE_MS ? 'catching-up' : 'live', null);
    this.#listener.onInterval(interval);
  }

  /** It cannot come, or the service was not reached for something else meanwhile. */
  fail(trouble: FourbeatError): void {
    this.#tell('offline', trouble);
  }

  #tell(state: FeedState, trouble: FourbeatError | null): void {
    if (state === this.#told && trouble?.message === this.#trouble?.message) return;
    this.#told = state;
    this.#trouble = trouble;
    this.#listener.onState(state, trouble);
  }
}
