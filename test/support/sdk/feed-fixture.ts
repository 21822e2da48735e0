import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../../protocol/limits.ts';
import type { Calls } from '../../../sdk/calls.ts';
import { FourbeatError } from '../../../sdk/errors.ts';
import type { EventsInterval } from '../../../sdk/types.ts';
import type { FakeMachine } from './fake-environment.ts';

/** One request for the feed. */
interface Asked {
  readonly by: 'poll' | 'stream';
  readonly interval: number;
  /** The true time, Unix ms. */
  readonly atMs: number;
}

interface OpenStream {
  readonly sink: {
    enqueue(bytes: Uint8Array<ArrayBuffer>): void;
    close(): void;
    error(e: Error): void;
  };
  next: number;
  /** Nothing comes through any more. */
  isDead: boolean;
}

const encoder = new TextEncoder();
// What is asked for is given up so long after its end (SPEC F-9).
const HELD_MS = 750;
// What viewers wait for an answer.
const ANSWER_MS = 5_000;

/** The service's side of the feed, as far as viewers' calls tell it. */
export class FeedFixture implements Pick<Calls, 'interval' | 'eventStream'> {
  readonly asked: Asked[] = [];
  /** Thrown by all that is asked; null: the service is well. */
  trouble: FourbeatError | null = null;
  /** Streams do not even answer. */
  isUnanswered = false;
  /** Polls get no answer either. */
  isSilent = false;
  /** Streams answer, and bring nothing. */
  isBuffering = false;
  /** Nothing is sealed. */
  isStalled = false;
  /** How long an answer is on its way. */
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
    return this.streams.filter(({ isDead }) => !isDead).length;
  }

  async interval(interval: number): Promise<EventsInterval> {
    this.ask('poll', interval);
    if (this.isSilent) {
      await this.wait(ANSWER_MS);
      throw new FourbeatError('away', 'no answer');
    }
    await this.wait(this.delayMs);
    for (; interval > this.sealedTo; await this.wait(INTERVAL_MS / 10)) {
      if (this.machine.nowMs > intervalStartMs(interval + 1) + HELD_MS) {
        throw new FourbeatError('away', 'not sealed', 503, 1_000);
      }
    }
    return { interval, events: [] };
  }

  async eventStream(interval: number, signal: AbortSignal): Promise<Response> {
    this.ask('stream', interval);
    if (this.isUnanswered) {
      await this.wait(ANSWER_MS);
      throw new FourbeatError('away', 'no answer');
    }
    const body = new ReadableStream<Uint8Array>({
      start: (sink) => {
        sink.enqueue(encoder.encode(': fourbeat\n\n'));
        const stream = { sink, next: interval, isDead: this.isBuffering };
        this.streams.push(stream);
        this.send(stream);
        signal.addEventListener('abort', () => this.end(stream, 'cut'));
      },
    });
    return new Response(body);
  }

  /** Ends all streams, as a token that expires does, or as a broken connection. */
  endStreams(how: 'over' | 'cut'): void {
    for (const stream of [...this.streams]) this.end(stream, how);
  }

  /** As connections are whose other end is gone without a word. */
  loseStreams(): void {
    for (const stream of this.streams) stream.isDead = true;
  }

  /** Streams leave out the next ones, as they do with old ones that are empty (SPEC F-23). */
  skip(count: number): void {
    for (const stream of this.streams) stream.next += count;
  }

  private ask(by: Asked['by'], interval: number): void {
    this.asked.push({ by, interval, atMs: this.machine.nowMs });
    if (this.trouble) throw this.trouble;
    if (interval > this.current + AHEAD_INTERVALS)
      throw new FourbeatError('refused', 'too far', 400);
  }

  private end(stream: OpenStream, how: 'over' | 'cut'): void {
    if (!this.streams.includes(stream)) return;
    this.streams = this.streams.filter((one) => one !== stream);
    if (how === 'over') stream.sink.close();
    else stream.sink.error(new TypeError('the connection broke'));
  }

  private sealAtEnd(): void {
    const waitMs = intervalStartMs(this.current + 1) - this.machine.nowMs;
    this.machine.environment.after(waitMs, () => {
      if (!this.isStalled) this.sealedTo = this.current - 1;
      for (const stream of this.streams) this.send(stream);
      this.sealAtEnd();
    });
  }

  private send(stream: OpenStream): void {
    for (; !stream.isDead && stream.next <= this.sealedTo; stream.next++) {
      const interval = stream.next;
      const data = JSON.stringify({ interval, events: [] });
      stream.sink.enqueue(encoder.encode(`id: ${interval}\ndata: ${data}\n\n`));
    }
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.machine.environment.after(ms, resolve));
  }
}
