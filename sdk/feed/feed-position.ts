import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import type { ServiceClock } from '../clock.ts';
import type { FourbeatError } from '../errors.ts';
import type { EventsInterval } from '../types.ts';

export type FeedState = 'live' | 'catching-up' | 'offline';

/** Receives the feed. The methods must not throw. */
export interface FeedListener {
  /** Called for each interval once, in order. */
  onInterval(interval: EventsInterval): void;
  /** Called when the state changes. @param error why it is `offline` */
  onState(state: FeedState, error: FourbeatError | null): void;
  /** Called when intervals are skipped, both included. */
  onGap(from: number, to: number): void;
}

// The feed starts a second back: that second contains a view count.
const START_BEHIND_INTERVALS = 4;
// A viewer with a lag below this is live: the network is only slow.
const LIVE_LAG_MS = 3_000;
// Polls catch up even when all are late: by the clock's error, their phase and the network.
const MIN_CATCH_UP_MS = 5_000;
// Tolerance for intervals that become older while the feed catches up.
const CATCH_UP_GRACE_MS = 5_000;

/** Position in the feed, shared by event streams and polls. */
export class FeedPosition {
  readonly #clock: Pick<ServiceClock, 'nowMs'>;
  readonly #listener: FeedListener;
  /** The next interval to deliver; 0: not known yet. */
  next = 0;
  #state: FeedState | null = null;
  #error: FourbeatError | null = null;
  readonly #catchUpMs: number;

  constructor(clock: Pick<ServiceClock, 'nowMs'>, catchUpMs: number, listener: FeedListener) {
    this.#clock = clock;
    this.#listener = listener;
    this.#catchUpMs = Math.max(catchUpMs, MIN_CATCH_UP_MS);
  }

  /** The interval to continue with now. */
  get from(): number {
    const nowMs = this.#clock.nowMs();
    if (!this.next) return intervalAt(nowMs) - START_BEHIND_INTERVALS;
    return Math.max(this.next, intervalAt(nowMs - this.#catchUpMs));
  }

  /**
   * Whether an interval is too old to catch up on, as after a sleep of the machine, or of a century to
   * come: the feed would wait for it. Hours ahead is a service whose clock was set.
   */
  isTooFar(interval: number): boolean {
    const ageMs = this.#clock.nowMs() - intervalStartMs(interval);
    return ageMs > this.#catchUpMs + CATCH_UP_GRACE_MS || interval > 1e11;
  }

  /** Skips undelivered intervals before this one. */
  skipTo(interval: number): void {
    const { next } = this;
    if (interval <= next) return;
    this.next = interval;
    if (next) this.#listener.onGap(next, interval - 1);
  }

  /** Delivers the interval, unless it was delivered or skipped before. */
  accept(interval: EventsInterval): void {
    if (interval.interval < this.next) return;
    this.next = interval.interval + 1;
    const behindMs = this.#clock.nowMs() - intervalStartMs(this.next);
    this.#setState(behindMs > LIVE_LAG_MS ? 'catching-up' : 'live', null);
    this.#listener.onInterval(interval);
  }

  /** Records that the feed, or another request to the service, failed. */
  fail(error: FourbeatError): void {
    this.#setState('offline', error);
  }

  #setState(state: FeedState, error: FourbeatError | null): void {
    if (state === this.#state && error?.message === this.#error?.message) return;
    this.#state = state;
    this.#error = error;
    this.#listener.onState(state, error);
  }
}
