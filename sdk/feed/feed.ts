import type { Calls } from '../calls.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { type FeedListener, FeedPlace } from './place.ts';
import { Polling } from './polling.ts';
import { Streaming } from './streaming.ts';

/** `auto` streams where the machine can, and polls as long as no stream comes through. */
export type Transport = 'auto' | 'stream' | 'poll';

/** The feed of a stream, from about now on, and how far it is told. */
export class Feed extends FeedPlace {
  // As properties, `#` names would be those of the place once more.
  private readonly polling: Polling;
  /** null: it is polled. */
  private readonly streaming: Streaming | null;

  /** @param catchUpMs how much that was missed is caught up with, ms; at least 5 s are */
  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'look'>,
    calls: Pick<Calls, 'interval' | 'eventStream'>,
    transport: Transport,
    catchUpMs: number,
    listener: FeedListener,
  ) {
    super(clock, catchUpMs, listener);
    this.polling = new Polling(env, clock, calls, this);
    const streams = transport === 'stream' || (transport === 'auto' && env.canStream);
    const substitute = transport === 'auto' ? this.polling : null;
    this.streaming = streams ? new Streaming(env, clock, calls, this, substitute) : null;
  }

  /**
   * Begins: once, when the clock is synced, and never after `stop`.
   * @param from the first interval, for who was here before; 0: about now
   */
  start(from: number): void {
    this.next = from;
    void (this.streaming ?? this.polling).start();
  }

  /** The service can be reached again: what failed is tried again soon, unless it wished to wait. */
  retry(): void {
    this.streaming?.retry();
    this.polling.retry();
  }

  stop(): void {
    this.streaming?.stop();
    this.polling.stop();
  }
}
