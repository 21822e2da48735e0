import type { IntervalWaiter } from '../realtime/feed/feed-log.ts';
import {
  IntervalStream,
  type IntervalStreamOptions,
  type StreamSink,
} from '../realtime/feed/interval-stream.ts';
import type { Connection, PendingResponse } from './connection.ts';
import type { ErrorResponses } from './error-responses.ts';
import type { GatewayOperation } from './gateway-backend.ts';
import type { RequestTemplate } from './request-template.ts';
import { type ChunkEncoder, LAST_CHUNK, type ResponseBytes } from './response-bytes.ts';

/** What all long polls of a gateway share. */
export interface LongPollContext {
  readonly responses: ResponseBytes;
  readonly errorResponses: ErrorResponses;
  readonly feed: GatewayOperation;
}

/** A read of one interval that waits until the interval is sealed or read from the database. */
export class LongPoll implements PendingResponse, IntervalWaiter {
  private readonly startedMs = performance.now();

  constructor(
    private readonly connection: Connection,
    private readonly context: LongPollContext,
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
export class EventStreamResponse implements PendingResponse, StreamSink {
  readonly stream: IntervalStream;

  constructor(
    private readonly connection: Connection,
    private readonly encoder: ChunkEncoder,
    options: Omit<IntervalStreamOptions, 'sink'>,
  ) {
    this.stream = new IntervalStream({ ...options, sink: this });
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

  onDrain(): void {
    void this.stream.onWritable();
  }

  onClose(): void {
    this.stream.onClosed();
  }
}
