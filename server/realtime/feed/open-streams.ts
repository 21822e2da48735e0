import type { Viewer } from '../../auth/viewer-tokens/checked-viewers.ts';
import { clientKey } from '../../http/address.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { AbortableStream } from './event-stream.ts';
import { type StreamObserver, UnsentBudget } from './unsent-budget.ts';

/**
 * Most event streams of a thread. Each takes 7.6 µs for each interval: all of them 0.18 s of each 0.25 s. Without a
 * limit, two addresses with one token opened 40,000, and the thread fell behind for good.
 */
export const STREAMS_MAX = 24_000;
/** The client with the most streams is determined at most this often: with 24,000 clients it takes 0.3 ms. */
const LARGEST_MS = 100;

/** An event stream of a viewer. */
type EndableStream = Pick<AbortableStream, 'end' | 'abort'>;

/**
 * Tracks the open event streams of viewers, and ends them when they must end (C-19) or when their clients
 * do not read (F-25).
 */
export class OpenStreams {
  // Not the whole viewer: its token would take memory as long as the stream is open.
  private readonly streams = new Map<EndableStream, Pick<Viewer, 'streamId' | 'seat'>>();
  /** By `clientKey`; those of unknown clients are one group. */
  private readonly ofClient = new Map<string, Set<EndableStream>>();
  private largest = { client: '', untilMs: 0 };
  /** Room that is being made for streams. */
  private reserved = 0;
  private isEnded = false;

  /** @param nowMs service time */
  constructor(
    private readonly nowMs: () => number,
    private readonly budget = new UnsentBudget(),
    private readonly streamsMax = STREAMS_MAX,
  ) {}

  /**
   * Opens a stream. It ends when the viewer's token expires, or by `endAll` or `endOf`.
   * @param client the rate limit key of the client; null when it is not known
   * @param open creates the stream
   * @throws Unavailable after `endAll`; and when there are too many, and most are those of this client
   */
  open<Stream extends EndableStream>(
    viewer: Pick<Viewer, 'streamId' | 'seat' | 'expiresMs'>,
    client: string | null,
    open: (observer: StreamObserver) => Stream,
  ): Stream {
    // Clients reconnect at once after `endAll`, which would keep the drain from finishing.
    if (this.isEnded) throw new Unavailable('The service is stopping.');
    const key = client === null ? '' : clientKey(client);
    if (this.streams.size + this.reserved >= this.streamsMax) this.makeRoom(key);
    const { streamId, seat } = viewer;
    const ofClient = this.ofClient.get(key) ?? new Set();
    this.ofClient.set(key, ofClient);
    const onEnd = () => {
      runtime.clearTimer(expiry);
      this.streams.delete(stream);
      ofClient.delete(stream);
      if (ofClient.size === 0 && this.ofClient.get(key) === ofClient) this.ofClient.delete(key);
    };
    const stream = this.budget.open({ viewer: `${streamId}:${seat}`, client, onEnd }, open);
    const expiry = runtime.setTimeout(() => stream.end(), viewer.expiresMs - this.nowMs());
    this.streams.set(stream, { streamId, seat });
    ofClient.add(stream);
    return stream;
  }

  /** Ends a stream of the client with the most. @throws Unavailable when that is this one */
  private makeRoom(key: string): void {
    const largest = this.largestClient();
    const streams = this.ofClient.get(largest);
    if (!streams || streams.size <= (this.ofClient.get(key)?.size ?? 0) + 1)
      throw new Unavailable('Too many event streams are open on this node.');
    const [oldest] = streams;
    // Its connection may have received the next request, which would take the room at once.
    this.reserved++;
    try {
      oldest?.end();
    } finally {
      this.reserved--;
    }
  }

  private largestClient(): string {
    const nowMs = runtime.monotonicMs();
    if (nowMs >= this.largest.untilMs) {
      let most = 0;
      for (const [client, { size }] of this.ofClient) {
        if (size <= most) continue;
        most = size;
        this.largest = { client, untilMs: nowMs + LARGEST_MS };
      }
    }
    return this.largest.client;
  }

  /** Ends all streams and rejects new ones; for the drain. */
  endAll(): void {
    this.isEnded = true;
    for (const stream of this.streams.keys()) stream.end();
  }

  /** Ends the streams of banned viewers. */
  endOf(streamId: string, seats: readonly number[]): void {
    if (seats.length === 0) return;
    const banned = new Set(seats);
    for (const [stream, viewer] of this.streams) {
      if (viewer.streamId === streamId && banned.has(viewer.seat)) stream.end();
    }
  }
}
