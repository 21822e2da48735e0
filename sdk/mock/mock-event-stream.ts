import type { EventsInterval } from '../types.ts';

const encoder = new TextEncoder();

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** An open event stream (SPEC F-21): one message per interval. */
export class MockEventStream {
  readonly response: Response;
  /** Of the response body; null: closed. */
  #controller: Controller | null = null;

  constructor(
    signal: AbortSignal | null,
    readonly onClose: (stream: MockEventStream) => void,
  ) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#close();
      },
    });
    // The comment makes the headers visible to clients at once.
    this.#controller?.enqueue(encoder.encode(': fourbeat\n\n'));
    signal?.addEventListener('abort', () => this.abort(signal.reason), { once: true });
    this.response = new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  send(interval: EventsInterval): void {
    const message = `id: ${interval.interval}\ndata: ${JSON.stringify(interval)}\n\n`;
    this.#controller?.enqueue(encoder.encode(message));
  }

  /** Ends the stream normally, as when a token expires. */
  end(): void {
    this.#close()?.close();
  }

  /** Fails the stream, as a broken connection does. */
  abort(reason: unknown = new TypeError('The connection broke.')): void {
    this.#close()?.error(reason);
  }

  #close(): Controller | null {
    const controller = this.#controller;
    this.#controller = null;
    if (controller) this.onClose(this);
    return controller;
  }
}
