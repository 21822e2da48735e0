import type { Scheduler } from './scheduler.ts';

/** The way that a stream is carried on. */
export interface Carrier {
  readonly scheduler: Scheduler;
  readonly delayMs: () => number;
  /** Whether anything gets through now. */
  readonly isThrough: () => boolean;
  /** Runs what comes in on the machine at the other end. */
  readonly receive: (run: () => void) => void;
  readonly onOver: () => void;
}

interface Sink {
  enqueue(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
  error(reason: unknown): void;
}

/** What is under way waits so long for a network that is gone. */
const AGAIN_MS = 200;

/** A stream whose chunks come later, in their order, until it is cut. */
export class CarriedStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #underWay: { readonly arrivesMs: number; readonly run: (sink: Sink) => void }[] = [];
  #sink: Sink | null = null;

  constructor(
    from: ReadableStream<Uint8Array<ArrayBuffer>>,
    readonly carrier: Carrier,
  ) {
    this.#reader = from.getReader();
    this.body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.#sink = controller;
      },
      cancel: () => {
        this.#over();
      },
    });
    this.#carry().catch((error) => this.#send(() => this.cut(error)));
  }

  /** Breaks it: what is under way is lost. */
  cut(reason: unknown): void {
    const sink = this.#over();
    if (sink) this.carrier.receive(() => sink.error(reason));
  }

  async #carry(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.#send((sink) => sink.enqueue(value));
    }
    this.#send(() => this.#over()?.close());
  }

  #send(run: (sink: Sink) => void): void {
    const { scheduler, delayMs } = this.carrier;
    const lastMs = this.#underWay.at(-1)?.arrivesMs ?? 0;
    this.#underWay.push({ arrivesMs: Math.max(lastMs, scheduler.nowMs + delayMs()), run });
    if (this.#underWay.length === 1) this.#deliverNext();
  }

  #deliverNext(): void {
    const { scheduler, isThrough, receive } = this.carrier;
    const next = this.#underWay[0];
    if (!next) return;
    scheduler.after(next.arrivesMs - scheduler.nowMs, () => {
      if (!this.#sink) return;
      if (!isThrough()) {
        scheduler.after(AGAIN_MS, () => this.#deliverNext());
        return;
      }
      this.#underWay.shift();
      receive(() => this.#sink && next.run(this.#sink));
      this.#deliverNext();
    });
  }

  /** @returns the end that is open, the first time */
  #over(): Sink | null {
    const sink = this.#sink;
    this.#sink = null;
    if (sink) {
      this.carrier.onOver();
      void this.#reader.cancel().catch(() => {});
    }
    return sink;
  }
}
