import type { FeedLog, SealedInterval } from './feed-log.ts';

/** A reader who lets this much wait unsent is cut off; it resumes by `Last-Event-ID` (F-25). */
export const UNSENT_BYTES_MAX = 1024 * 1024;
/** With this much unsent no further page of what was sealed before is read. */
export const ROOM_BYTES = 64 * 1024;

/** Where an event stream goes: the connection of a client. */
export interface StreamSink {
  /** Sends bytes, or keeps them until they can be sent. */
  write(bytes: Uint8Array): void;
  /** How many bytes are kept. */
  unsentBytes(): number;
  /** Nothing follows what was written. */
  end(): void;
}

export interface IntervalStreamOptions {
  readonly log: Pick<FeedLog, 'sealedTo' | 'range' | 'subscribe'>;
  readonly streamId: string;
  /** The first interval to send; it may be a little ahead. */
  readonly from: number;
  readonly sink: StreamSink;
  /** Told when the stream is over, however it ended. */
  readonly onEnd: () => void;
}

const encoder = new TextEncoder();
const END_OF_MESSAGE = encoder.encode('\n\n');
/** An opening comment lets the client see the headers at once. */
export const OPENING = encoder.encode(': fourbeat\n\n');

/** A message for each: `id:` is the interval, `data:` the very bytes of its body (F-22). */
function messages(page: readonly SealedInterval[]): Uint8Array {
  return Buffer.concat(
    page.flatMap(({ interval, body }) => [
      encoder.encode(`id: ${interval}\ndata: `),
      body,
      END_OF_MESSAGE,
    ]),
  );
}

// Streams of one feed send the same bytes in the same interval: they are encoded once.
const encoded = new WeakMap<Uint8Array, Uint8Array>();

function sharedMessage(interval: number, body: Uint8Array): Uint8Array {
  let bytes = encoded.get(body);
  if (!bytes) {
    bytes = messages([{ interval, body }]);
    encoded.set(body, bytes);
  }
  return bytes;
}

/**
 * Sends sealed intervals from `from` on as server-sent events: first those that are sealed
 * already, page by page as the reader takes them, then each one as it is sealed. It begins with the
 * first `roomFreed`.
 */
export class IntervalStream {
  private next: number;
  private unsubscribe: (() => void) | null = null;
  private isOver = false;
  private catchingUp: Promise<void> | null = null;

  constructor(private readonly options: IntervalStreamOptions) {
    this.next = options.from;
  }

  /** Sends a message of another kind between two intervals. */
  send(message: Uint8Array): void {
    if (this.isOver) return;
    const { sink } = this.options;
    sink.write(message);
    if (sink.unsentBytes() > UNSENT_BYTES_MAX) this.end();
  }

  /** Ends it; the client resumes where it was. */
  end(): void {
    if (this.isOver) return;
    this.gone();
    this.options.sink.end();
  }

  /** The reader is gone. */
  gone(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unsubscribe?.();
    this.options.onEnd();
  }

  /** The sink has room for more. @returns when it has none, or all that was sealed was sent */
  roomFreed(): Promise<void> | undefined {
    if (this.unsubscribe) return undefined;
    this.catchingUp ??= this.sendPages()
      .catch(() => this.end())
      .finally(() => {
        this.catchingUp = null;
      });
    return this.catchingUp;
  }

  private async sendPages(): Promise<void> {
    const { log, streamId, sink } = this.options;
    while (!this.isOver && this.next <= log.sealedTo()) {
      if (sink.unsentBytes() >= ROOM_BYTES) return; // `roomFreed` goes on.
      const { page, next } = await log.range(streamId, this.next, log.sealedTo());
      if (this.isOver) return;
      this.next = next;
      if (page.length > 0) sink.write(messages(page));
    }
    if (this.isOver) return;
    this.unsubscribe ??= log.subscribe(streamId, (interval, body) => this.onSealed(interval, body));
  }

  private onSealed(interval: number, body: Uint8Array): void {
    if (interval < this.next) return;
    if (interval > this.next) {
      // Intervals were skipped (the machine slept): the database has them.
      this.unsubscribe?.();
      this.unsubscribe = null;
      void this.roomFreed();
      return;
    }
    this.next = interval + 1;
    this.send(sharedMessage(interval, body));
  }
}
