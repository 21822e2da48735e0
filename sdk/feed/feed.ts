import type { Calls } from '../calls.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { Trouble } from '../errors.ts';
import { type FeedListener, FeedPlace } from './place.ts';
import { Polling } from './polling.ts';
import { Streaming } from './streaming.ts';

export interface FeedOptions {
  /** `auto` streams where the machine can, and polls as long as no stream comes through. */
  readonly transport: 'auto' | 'stream' | 'poll';
  /** How much that was missed is caught up with, ms; at least 5 s are. */
  readonly catchUpMs: number;
}

/** The feed of a stream, from about now on. */
export class Feed {
  readonly #place: FeedPlace;
  readonly #polling: Polling;
  /** null: it is polled. */
  readonly #streaming: Streaming | null;
  #isOver = false;

  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'look'>,
    calls: Pick<Calls, 'interval' | 'eventStream'>,
    { transport, catchUpMs }: FeedOptions,
    listener: FeedListener,
  ) {
    this.#place = new FeedPlace(clock, catchUpMs, listener);
    this.#polling = new Polling(env, clock, calls, this.#place);
    const streams = transport === 'stream' || (transport === 'auto' && env.canStream);
    const substitute = transport === 'auto' ? this.#polling : null;
    this.#streaming = streams ? new Streaming(env, clock, calls, this.#place, substitute) : null;
  }

  /** The interval that is told next; 0 before it is known. */
  get next(): number {
    return this.#place.next;
  }

  /**
   * Begins, if it was not stopped: once, and when the clock is synced.
   * @param from the first interval, for who was here before; 0: about now
   */
  start(from = 0): void {
    this.#place.next = from;
    if (!this.#isOver) void (this.#streaming ?? this.#polling).start();
  }

  /** It cannot come: the service was not reached for something else. */
  fail(trouble: Trouble): void {
    if (!this.#isOver) this.#place.fail(trouble);
  }

  /** The service can be reached again: what failed is tried again soon, unless it wished to wait. */
  retry(): void {
    if (this.#isOver) return;
    this.#streaming?.retry();
    this.#polling.retry();
  }

  stop(): void {
    this.#isOver = true;
    this.#streaming?.stop();
    this.#polling.stop();
  }
}
