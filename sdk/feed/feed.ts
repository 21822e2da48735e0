import type { ApiClient } from '../api-client.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { type FeedListener, FeedPosition } from './feed-position.ts';
import { FeedPoller } from './polling.ts';
import { FeedStreamer } from './streaming.ts';

/** `auto` streams where the platform can, and polls while no stream works. */
export type Transport = 'auto' | 'stream' | 'poll';

/** Reads the feed of a stream by event stream or polls. */
export class Feed extends FeedPosition {
  // Not `#` members: the build turns those into properties, which would collide with the base class's.
  private readonly poller: FeedPoller;
  /** Null when the feed is polled only. */
  private readonly streamer: FeedStreamer | null;

  /** @param catchUpMs how much of a missed feed to catch up on, ms; at least 5 s */
  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'resync'>,
    api: Pick<ApiClient, 'interval' | 'eventStream'>,
    transport: Transport,
    catchUpMs: number,
    listener: FeedListener,
  ) {
    super(clock, catchUpMs, listener);
    this.poller = new FeedPoller(env, clock, api, this);
    const canStream = transport === 'stream' || (transport === 'auto' && env.canStream);
    const fallback = transport === 'auto' ? this.poller : null;
    this.streamer = canStream ? new FeedStreamer(env, clock, api, this, fallback) : null;
  }

  /**
   * Starts reading. Called once, after the clock is synced and before `stop`.
   * @param from the first interval, for a viewer who was here before; 0: about now
   */
  start(from: number): void {
    this.next = from;
    void (this.streamer ?? this.poller).start();
  }

  /** The service is reachable again: retry soon, unless the service asked to wait. */
  retry(): void {
    this.streamer?.retry();
    this.poller.retry();
  }

  stop(): void {
    this.streamer?.stop();
    this.poller.stop();
  }
}
