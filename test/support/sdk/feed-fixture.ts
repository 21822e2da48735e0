import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../../protocol/limits.ts';
import type { ApiClient } from '../../../sdk/api-client.ts';
import { FourbeatError } from '../../../sdk/errors.ts';
import type { EventsInterval } from '../../../sdk/types.ts';
import type { FakeMachine } from './fake-environment.ts';

interface FeedRequest {
  readonly transport: 'poll' | 'stream';
  readonly interval: number;
  /** True time, Unix ms. */
  readonly atMs: number;
}

interface OpenStream {
  readonly sink: ReadableStreamDefaultController<Uint8Array>;
  next: number;
  /** Nothing is delivered any more. */
  isStalled: boolean;
}

const encoder = new TextEncoder();
// A long poll fails this long after the end of its interval (SPEC F-9).
const LONG_POLL_GRACE_MS = 750;
// Timeout of the API client.
const CLIENT_TIMEOUT_MS = 5_000;

/** A simulated feed of empty intervals, with faults, in place of the API client. */
export class FeedFixture implements Pick<ApiClient, 'interval' | 'eventStream'> {
  readonly requests: FeedRequest[] = [];
  /** Thrown by all requests; null: none. */
  error: FourbeatError | null = null;
  isStreamUnanswered = false;
  isPollUnanswered = false;
  /** Event streams open but deliver nothing. */
  isBuffering = false;
  isSealingStopped = false;
  /** Network delay of responses. */
  delayMs = 0;
  private sealedTo: number;
  private streams: OpenStream[] = [];

  constructor(private readonly machine: FakeMachine) {
    this.sealedTo = this.current - 1;
    this.sealAtEnd();
  }

  get current(): number {
    return intervalAt(this.machine.nowMs);
  }

  get openStreams(): number {
    return this.streams.filter(({ isStalled }) => !isStalled).length;
  }

  async interval(interval: number): Promise<EventsInterval> {
    this.recordRequest('poll', interval);
    if (this.isPollUnanswered) {
      await this.machine.wait(CLIENT_TIMEOUT_MS);
      throw new FourbeatError('unavailable', 'no response');
    }
    await this.machine.wait(this.delayMs);
    for (; interval > this.sealedTo; await this.machine.wait(INTERVAL_MS / 10)) {
      if (this.machine.nowMs > intervalStartMs(interval + 1) + LONG_POLL_GRACE_MS) {
        throw new FourbeatError('unavailable', 'not sealed', 503, 1_000);
      }
    }
    return { interval, events: [] };
  }

  async eventStream(interval: number, signal: AbortSignal): Promise<Response> {
    this.recordRequest('stream', interval);
    if (this.isStreamUnanswered) {
      await this.machine.wait(CLIENT_TIMEOUT_MS);
      throw new FourbeatError('unavailable', 'no response');
    }
    const body = new ReadableStream<Uint8Array>({
      start: (sink) => {
        sink.enqueue(encoder.encode(': fourbeat\n\n'));
        const stream = { sink, next: interval, isStalled: this.isBuffering };
        this.streams.push(stream);
        this.send(stream);
        signal.addEventListener('abort', () => this.end(stream, 'break'));
      },
    });
    return new Response(body);
  }

  /** Ends all streams normally (as when tokens expire) or breaks their connections. */
  endStreams(how: 'end' | 'break'): void {
    for (const stream of [...this.streams]) this.end(stream, how);
  }

  /** Stalls all open streams, as when the peer disappears without closing. */
  stallStreams(): void {
    for (const stream of this.streams) stream.isStalled = true;
  }

  /** Event streams omit the next intervals, as they do with old empty ones (SPEC F-23). */
  skip(count: number): void {
    for (const stream of this.streams) stream.next += count;
  }

  private recordRequest(transport: FeedRequest['transport'], interval: number): void {
    this.requests.push({ transport, interval, atMs: this.machine.nowMs });
    if (this.error) throw this.error;
    if (interval > this.current + AHEAD_INTERVALS)
      throw new FourbeatError('refused', 'too far', 400);
  }

  private end(stream: OpenStream, how: 'end' | 'break'): void {
    if (!this.streams.includes(stream)) return;
    this.streams = this.streams.filter((other) => other !== stream);
    if (how === 'end') stream.sink.close();
    else stream.sink.error(new TypeError('the connection broke'));
  }

  private sealAtEnd(): void {
    const waitMs = intervalStartMs(this.current + 1) - this.machine.nowMs;
    this.machine.environment.after(waitMs, () => {
      if (!this.isSealingStopped) this.sealedTo = this.current - 1;
      for (const stream of this.streams) this.send(stream);
      this.sealAtEnd();
    });
  }

  private send(stream: OpenStream): void {
    for (; !stream.isStalled && stream.next <= this.sealedTo; stream.next++) {
      const interval = stream.next;
      const data = JSON.stringify({ interval, events: [] });
      stream.sink.enqueue(encoder.encode(`id: ${interval}\ndata: ${data}\n\n`));
    }
  }
}
