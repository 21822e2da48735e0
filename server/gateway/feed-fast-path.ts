import type { ViewerWithToken } from '../auth/viewer-tokens/checked-viewers.ts';
import { forwardedAddress, rateLimitKey } from '../http/address.ts';
import { runtime } from '../platform/runtime.ts';
import type { IntervalWaiter } from '../realtime/feed/feed-log.ts';
import {
  IntervalStream,
  type IntervalStreamOptions,
  type StreamSink,
} from '../realtime/feed/interval-stream.ts';
import type { Connection, PendingResponse } from './connection.ts';
import type { ErrorResponses } from './error-responses.ts';
import type { FeedOperation } from './gateway-backend.ts';
import { forwardedForIn, HEAD_BYTES_MAX } from './request-head.ts';
import { ChunkEncoder, LAST_CHUNK, type ResponseBytes } from './response-bytes.ts';
import type { RequestTemplate } from './viewer-request.ts';

/**
 * Responds to admitted viewers who read the feed: with a sealed interval, at once or when it is sealed,
 * or with an event stream. Its methods return false when the request must go to the origin server.
 */
export class FeedFastPath {
  private readonly encoder = new ChunkEncoder();

  constructor(
    readonly feed: FeedOperation,
    readonly responses: ResponseBytes,
    readonly errorResponses: ErrorResponses,
  ) {}

  readInterval(
    connection: Connection,
    template: RequestTemplate,
    viewer: ViewerWithToken,
    interval: number,
  ): boolean {
    const { log, counter } = this.feed;
    const { streamId } = viewer;
    // The receive buffer may hold 512 KB of pipelined data; copy the head so that it can be freed.
    const small = template.memoryBytes > HEAD_BYTES_MAX ? template.compact() : template;
    const createLongPoll = () => new LongPoll(connection, this, small, viewer.token, interval);
    try {
      if (interval > log.watermark()) {
        const longPoll = createLongPoll();
        log.waitFor(streamId, interval, longPoll);
        connection.setPending(longPoll);
        return true;
      }
      const body = log.read(streamId, interval, () => this.clientKey(connection, small));
      if (body instanceof Promise) {
        const longPoll = createLongPoll();
        connection.setPending(longPoll);
        body.then(
          (storedBody) => longPoll.onSealed(storedBody),
          (error) => longPoll.onFailed(error),
        );
        return true;
      }
      counter.countImmediate(200);
      connection.respond(this.responses.sealed(interval, body));
      return true;
    } catch (error) {
      return this.errorResponses.send(connection, template, this.feed, error);
    }
  }

  /** Opens an event stream. @param from its first interval */
  openStream(
    connection: Connection,
    template: RequestTemplate,
    viewer: ViewerWithToken,
    from: number,
  ): boolean {
    const { streamId } = viewer;
    const { log, streams, counter } = this.feed;
    let response: EventStreamResponse | null = null;
    try {
      const client = this.clientKey(connection, template);
      streams.open(viewer, client, (observer) => {
        const options = { log, streamId, from, client: () => client, ...observer };
        response = new EventStreamResponse(connection, this.encoder, options);
        return response.stream;
      });
    } catch (error) {
      return this.errorResponses.send(connection, template, this.feed, error);
    }
    counter.countImmediate(200);
    (response as EventStreamResponse | null)?.start(this.responses.opening());
    return true;
  }

  /** The rate limit key of the client (SPEC L-11); null when a proxy hides its address. */
  private clientKey({ address }: Connection, template: RequestTemplate): string | null {
    const client = this.feed.trustProxy
      ? forwardedAddress(forwardedForIn(template.render(0, 'token')))
      : address;
    return client === null ? null : rateLimitKey(client);
  }
}

/** A read of one interval that waits until the interval is sealed or read from the database. */
class LongPoll implements PendingResponse, IntervalWaiter {
  private readonly startedMs = runtime.monotonicMs();

  constructor(
    private readonly connection: Connection,
    private readonly context: FeedFastPath,
    private readonly template: RequestTemplate,
    private readonly token: string,
    private readonly interval: number,
  ) {}

  onSealed(body: Uint8Array): void {
    const { feed, responses } = this.context;
    feed.counter.count(200, this.startedMs);
    this.connection.respond(responses.sealed(this.interval, body));
  }

  /** Does nothing: the feed log drops the waiter when the interval is sealed, within a second. */
  onClose(): void {}

  onFailed(error: unknown): void {
    const { connection, template, startedMs } = this;
    if (connection.isEnded) return;
    const { errorResponses, feed } = this.context;
    if (errorResponses.send(connection, template, feed, error, startedMs)) return;
    connection.relay(template.render(this.interval, this.token));
  }
}

/** An event stream that is written to a connection. */
class EventStreamResponse implements PendingResponse, StreamSink {
  readonly stream: IntervalStream;

  constructor(
    private readonly connection: Connection,
    private readonly encoder: ChunkEncoder,
    options: Omit<IntervalStreamOptions, 'sink'>,
  ) {
    this.stream = new IntervalStream({ ...options, sink: this });
  }

  /** By the budget of all event streams. */
  get isBounded(): boolean {
    return true;
  }

  /** @param opening the head of the response, and the first bytes of every event stream */
  start(opening: Uint8Array): void {
    this.connection.setPending(this);
    this.connection.send(opening);
    void this.stream.onWritable();
  }

  write(bytes: Uint8Array): void {
    this.connection.send(this.encoder.encode(bytes));
  }

  unsentBytes(): number {
    return this.connection.unsentBytes();
  }

  end(): void {
    this.connection.send(LAST_CHUNK);
    this.connection.finish();
  }

  abort(): void {
    this.connection.terminate();
  }

  onDrain(): void {
    void this.stream.onWritable();
  }

  onClose(): void {
    this.stream.onClosed();
  }
}
