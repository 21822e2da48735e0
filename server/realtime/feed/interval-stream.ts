import { encodeEvents } from '../../http/event-stream.ts';
import { CatchUpQueue } from './catch-up-queue.ts';
import type { FeedLog, FeedRange, ReadClient, SealedInterval } from './feed-log.ts';
import { type StreamObserver, UNSENT_LIMITS } from './unsent-budget.ts';

/** With this many unsent bytes, the stream reads no further page of older intervals. */
export const ROOM_BYTES = 64 * 1024;

/** The connection of a client, as an event stream writes to it. */
export interface StreamSink {
  /** Sends bytes, or buffers them until they can be sent. */
  write(bytes: Uint8Array): void;
  unsentBytes(): number;
  /** Ends the response after what was written. */
  end(): void;
  /** Closes the connection at once: unsent bytes are lost. */
  abort(): void;
}

export interface IntervalStreamOptions extends StreamObserver {
  readonly log: Pick<FeedLog, 'watermark' | 'range' | 'subscribe'>;
  readonly streamId: string;
  /** The first interval to send; it may be a little ahead of the feed. */
  readonly from: number;
  /** As for `FeedLog.read`. */
  readonly client?: ReadClient;
  readonly sink: StreamSink;
}

/** An event for each interval: `id` is the interval, `data` the bytes of its body (F-22). */
function eventsOf(page: readonly SealedInterval[]): Uint8Array {
  return encodeEvents(page.map(({ interval, body }) => ({ id: interval, data: body })));
}

// All event streams of a feed send the same bytes for an interval: encode them once.
const encodedByBody = new WeakMap<Uint8Array, Uint8Array>();

function sharedEvent(interval: number, body: Uint8Array): Uint8Array {
  let bytes = encodedByBody.get(body);
  if (!bytes) {
    bytes = eventsOf([{ interval, body }]);
    encodedByBody.set(body, bytes);
  }
  return bytes;
}

// All event streams of a feed share the time of the event loop.
const queues = new WeakMap<object, CatchUpQueue>();

function catchUpQueueOf(log: object): CatchUpQueue {
  const queue = queues.get(log) ?? new CatchUpQueue();
  queues.set(log, queue);
  return queue;
}

/**
 * Sends the sealed intervals of a stream as server-sent events: first older ones, page by page as the
 * client reads them, then each one when it is sealed. The first call of `onWritable` starts it.
 */
export class IntervalStream {
  private next: number;
  private unsubscribe: (() => void) | null = null;
  private isOver = false;
  private catchingUp: Promise<void> | null = null;

  constructor(private readonly options: IntervalStreamOptions) {
    this.next = options.from;
  }

  /** Sends an encoded event of another kind between two intervals. */
  send(event: Uint8Array): void {
    if (this.isOver) return;
    const { sink, onUnsent } = this.options;
    sink.write(event);
    onUnsent(sink.unsentBytes());
  }

  /** Ends the stream; the client resumes by `Last-Event-ID`. */
  end(): void {
    if (this.isOver) return;
    this.onClosed();
    this.options.sink.end();
  }

  /** Disconnects the client, which resumes by `Last-Event-ID`. */
  abort(): void {
    if (this.isOver) return;
    this.onClosed();
    this.options.sink.abort();
  }

  /** The client disconnected. */
  onClosed(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unsubscribe?.();
    this.options.onEnd();
  }

  /** Call it when the sink has room. @returns when it is full, or everything sealed was sent */
  onWritable(): Promise<void> | undefined {
    if (this.isOver) return undefined;
    if (this.unsubscribe) {
      this.options.onUnsent(this.options.sink.unsentBytes());
      return undefined;
    }
    this.countPage();
    this.catchingUp ??= this.sendPages()
      .catch(() => this.end())
      .finally(() => {
        this.catchingUp = null;
      });
    return this.catchingUp;
  }

  // A page with one large body cuts no viewer's only stream: it would begin with the same page again.
  private countPage(): void {
    this.options.onUnsent(Math.min(this.options.sink.unsentBytes(), UNSENT_LIMITS.viewerBytes));
  }

  private async sendPages(): Promise<void> {
    const { log, streamId, sink, client } = this.options;
    const queue = catchUpQueueOf(log);
    while (!this.isOver && this.next <= log.watermark()) {
      if (sink.unsentBytes() >= ROOM_BYTES) return; // `onWritable` continues.
      const late = await queue.run(client, async () => {
        if (this.isOver) return null;
        const { turn } = queue;
        const range = await log.range(streamId, this.next, log.watermark(), client);
        if (queue.turn !== turn) return range;
        this.sendPage(range);
        return null;
      });
      // In a turn of its own: thousands of streams may have waited for one read of the database.
      if (late) await queue.runFirst(client, async () => this.sendPage(late));
    }
    if (this.isOver) return;
    this.unsubscribe ??= log.subscribe(streamId, (interval, body) => this.onSealed(interval, body));
  }

  private sendPage({ page, next }: FeedRange): void {
    if (this.isOver) return;
    this.next = next;
    if (page.length > 0) this.options.sink.write(eventsOf(page));
    this.countPage();
  }

  private onSealed(interval: number, body: Uint8Array): void {
    if (interval < this.next) return;
    if (interval > this.next) {
      // Intervals were skipped, as when the machine slept: read them from the database.
      this.unsubscribe?.();
      this.unsubscribe = null;
      void this.onWritable();
      return;
    }
    this.next = interval + 1;
    this.send(sharedEvent(interval, body));
  }
}
