import type { FeedLog, SealedInterval } from './feed-log.ts';

/** A reader who lets this much wait unsent is cut off; it resumes by `Last-Event-ID` (F-25). */
export const UNSENT_BYTES_MAX = 1024 * 1024;

export interface EventStreamOptions {
  readonly log: FeedLog;
  readonly streamId: string;
  /** The first interval to send; it may be a little ahead. */
  readonly from: number;
  /** Told when the stream is over, however it ended. */
  readonly onEnd: () => void;
}

/** An open event stream. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Sends a message of another kind between two intervals. */
  send(message: Uint8Array): void;
  /** Ends it; the client resumes where it was. */
  end(): void;
}

const encoder = new TextEncoder();
const END_OF_MESSAGE = encoder.encode('\n\n');

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
 * already, page by page as the reader takes them, then each one as it is sealed.
 */
export function openEventStream({ log, streamId, from, onEnd }: EventStreamOptions): EventStream {
  let next = from;
  let unsubscribe: (() => void) | null = null;
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let over = false;
  let catchingUp: Promise<void> | null = null;

  function finish(): void {
    if (over) return;
    over = true;
    unsubscribe?.();
    onEnd();
  }

  function end(): void {
    if (over) return;
    finish();
    controller.close();
  }

  function onSealed(interval: number, body: Uint8Array): void {
    if (interval < next) return;
    if (interval > next) {
      // Intervals were skipped (the machine slept): the record has them.
      unsubscribe?.();
      unsubscribe = null;
      catchUp();
      return;
    }
    next = interval + 1;
    send(sharedMessage(interval, body));
  }

  function send(message: Uint8Array): void {
    if (over) return;
    controller.enqueue(message);
    if ((controller.desiredSize ?? 0) < -UNSENT_BYTES_MAX) end();
  }

  function catchUp(): Promise<void> {
    catchingUp ??= sendPages()
      .catch(end)
      .finally(() => {
        catchingUp = null;
      });
    return catchingUp;
  }

  async function sendPages(): Promise<void> {
    while (!over && next <= log.sealedTo()) {
      if ((controller.desiredSize ?? 0) <= 0) return; // `pull` goes on when there is room.
      const { page, next: after } = await log.range(streamId, next, log.sealedTo());
      if (over) return;
      next = after;
      if (page.length > 0) controller.enqueue(messages(page));
    }
    if (!over) unsubscribe ??= log.subscribe(streamId, onSealed);
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
        // An opening comment lets the client see the headers at once.
        controller.enqueue(encoder.encode(': fourbeat\n\n'));
      },
      pull: () => (unsubscribe ? undefined : catchUp()),
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }),
  );
  return { body, send, end };
}
