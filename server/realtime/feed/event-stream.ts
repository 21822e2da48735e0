import { OPENING } from '../../http/event-stream.ts';
import { IntervalStream, type IntervalStreamOptions, ROOM_BYTES } from './interval-stream.ts';

/** An open event stream as the body of a response. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Sends an encoded event of another kind between two intervals. */
  send(event: Uint8Array): void;
  /** Ends the stream; the client resumes by `Last-Event-ID`. */
  end(): void;
}

/** An event stream of intervals. */
export interface AbortableStream extends EventStream {
  /** Disconnects the client, which resumes by `Last-Event-ID`; unsent bytes are lost. */
  abort(): void;
}

/** Opens an `IntervalStream` into the body of a response. */
export function openEventStream(options: Omit<IntervalStreamOptions, 'sink'>): AbortableStream {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const stream = new IntervalStream({
    ...options,
    sink: {
      write: (bytes) => controller.enqueue(bytes),
      unsentBytes: () => ROOM_BYTES - (controller.desiredSize ?? ROOM_BYTES),
      end: () => controller.close(),
      abort: () => controller.error(),
    },
  });
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
        controller.enqueue(OPENING);
      },
      pull: () => stream.onWritable(),
      cancel: () => stream.onClosed(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: ROOM_BYTES }),
  );
  return {
    body,
    send: (event) => stream.send(event),
    end: () => stream.end(),
    abort: () => stream.abort(),
  };
}
