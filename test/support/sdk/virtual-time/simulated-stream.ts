import type { Scheduler } from '../../scheduler.ts';

/** The network between a stream and its receiver. */
export interface StreamLink {
  readonly scheduler: Scheduler;
  readonly delayMs: () => number;
  /** Whether data gets through now. */
  readonly isConnected: () => boolean;
  /** Runs a callback on the receiving machine. */
  readonly receive: (run: () => void) => void;
  readonly onClose: () => void;
}

type Sink = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

/** Time between attempts to deliver over a network that is down. */
const RETRY_MS = 200;

/** Forwards a stream over a simulated network: chunks are delayed, in order, until it breaks. */
export class SimulatedStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #inTransit: { readonly arrivesMs: number; readonly run: (sink: Sink) => void }[] = [];
  #sink: Sink | null = null;

  constructor(
    from: ReadableStream<Uint8Array<ArrayBuffer>>,
    readonly link: StreamLink,
  ) {
    this.#reader = from.getReader();
    this.body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.#sink = controller;
      },
      cancel: () => {
        this.#close();
      },
    });
    this.#forward().catch((error) => this.#send(() => this.break(error)));
  }

  /** Breaks the connection: chunks in transit are lost. */
  break(reason: unknown): void {
    const sink = this.#close();
    if (sink) this.link.receive(() => sink.error(reason));
  }

  async #forward(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.#send((sink) => sink.enqueue(value));
    }
    this.#send(() => this.#close()?.close());
  }

  #send(run: (sink: Sink) => void): void {
    const { scheduler, delayMs } = this.link;
    const lastMs = this.#inTransit.at(-1)?.arrivesMs ?? 0;
    this.#inTransit.push({ arrivesMs: Math.max(lastMs, scheduler.nowMs + delayMs()), run });
    if (this.#inTransit.length === 1) this.#deliverNext();
  }

  #deliverNext(): void {
    const { scheduler, isConnected, receive } = this.link;
    const next = this.#inTransit[0];
    if (!next) return;
    scheduler.after(next.arrivesMs - scheduler.nowMs, () => {
      if (!this.#sink) return;
      if (!isConnected()) {
        scheduler.after(RETRY_MS, () => this.#deliverNext());
        return;
      }
      this.#inTransit.shift();
      receive(() => this.#sink && next.run(this.#sink));
      this.#deliverNext();
    });
  }

  /** Closes the connection. @returns the receiving end; null when it was already closed */
  #close(): Sink | null {
    const sink = this.#sink;
    this.#sink = null;
    if (sink) {
      this.link.onClose();
      void this.#reader.cancel().catch(() => {});
    }
    return sink;
  }
}
