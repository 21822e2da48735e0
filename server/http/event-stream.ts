// Encoding of server-sent events (HTML standard, section 9.2).

export const EVENT_STREAM = 'text/event-stream';

export interface ServerSentEvent {
  /** The client sends the newest id as `Last-Event-ID` when it reconnects. */
  readonly id?: number;
  /** Type of the event; `message` when absent. */
  readonly event?: string;
  /** Without line breaks. */
  readonly data: string | Uint8Array;
}

const encoder = new TextEncoder();
const END = encoder.encode('\n\n');

/** The comment that a stream opens with, so that the client receives the headers at once. */
export const OPENING: Uint8Array = encoder.encode(': fourbeat\n\n');

/** Encodes events one after the other. */
export function encodeEvents(events: readonly ServerSentEvent[]): Uint8Array {
  return Buffer.concat(
    events.flatMap(({ id, event, data }) => [
      encoder.encode(
        `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: `,
      ),
      typeof data === 'string' ? encoder.encode(data) : data,
      END,
    ]),
  );
}

/**
 * The body of a response to HEAD. The runtime never reads it, so an event stream would stay open; without a body, the
 * runtime would send a Content-Length.
 */
export function openingOnly(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(OPENING);
      await Promise.resolve();
      controller.close();
    },
  });
}
