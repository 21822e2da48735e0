import type { EventsInterval } from '../types.ts';

const encoder = new TextEncoder();

/** The service's end of a stream. */
interface Sink {
  enqueue(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
  error(reason: unknown): void;
}

/** One open event stream (SPEC F-21): a message for each interval. */
export class MockEventStream {
  readonly response: Response;
  #controller: Sink | null = null;

  constructor(
    signal: AbortSignal | null,
    readonly onOver: (stream: MockEventStream) => void,
  ) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#over();
      },
    });
    // The comment lets a client see the headers at once.
    this.#controller?.enqueue(encoder.encode(': fourbeat\n\n'));
    signal?.addEventListener('abort', () => this.cut(signal.reason), { once: true });
    this.response = new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  send(interval: EventsInterval): void {
    const message = `id: ${interval.interval}\ndata: ${JSON.stringify(interval)}\n\n`;
    this.#controller?.enqueue(encoder.encode(message));
  }

  /** Ends it as the service does when a token expires. */
  end(): void {
    this.#over()?.close();
  }

  /** Ends it as a broken connection does. */
  cut(reason: unknown = new TypeError('The connection broke.')): void {
    this.#over()?.error(reason);
  }

  #over(): Sink | null {
    const controller = this.#controller;
    this.#controller = null;
    if (controller) this.onOver(this);
    return controller;
  }
}
