import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../protocol/limits.ts';
import type { EventsInterval, StreamEvent } from '../types.ts';
import { MockEventStream } from './mock-event-stream.ts';
import { json, MockProblem } from './mock-replies.ts';

/** The service's time, and what comes later. */
export interface MockTime {
  /** Unix ms. */
  readonly now: () => number;
  /** @returns what calls it off */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** Empty intervals that are older than this are left out of event streams (SPEC F-23). */
const RECENT_INTERVALS = (10 * 60_000) / INTERVAL_MS;
const CANONICAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** The feed (SPEC F): an interval that has ended is sealed, and is the same for ever. */
export class MockFeed {
  /** Those that are not empty. */
  readonly #sealed = new Map<number, readonly StreamEvent[]>();
  /** Told of each interval that is sealed. */
  readonly #waiting = new Set<(interval: number) => void>();
  readonly #streams = new Set<MockEventStream>();
  /** The first that is not sealed. */
  #next: number;
  #timer: (() => void) | null = null;

  /** @param eventsOf what goes into the interval that has just ended */
  constructor(
    readonly time: MockTime,
    readonly eventsOf: (interval: number) => readonly StreamEvent[],
  ) {
    this.#next = intervalAt(time.now());
  }

  get hasReaders(): boolean {
    return this.#waiting.size > 0;
  }

  /** Seals what has ended. It comes before everything that happens. */
  seal(): void {
    for (const current = intervalAt(this.time.now()); this.#next < current; ) {
      const interval = this.#next;
      const events = this.eventsOf(interval);
      if (events.length > 0) this.#sealed.set(interval, events);
      this.#next += 1;
      for (const told of [...this.#waiting]) told(interval);
    }
  }

  /** The interval that is asked for. @throws MockProblem 400, with the current one */
  intervalOf(asked: string | null): number {
    const current = intervalAt(this.time.now());
    const interval = asked !== null && CANONICAL.test(asked) ? Number(asked) : Number.NaN;
    if (interval <= current + AHEAD_INTERVALS) return interval;
    const detail = `interval must be a whole number up to ${current + AHEAD_INTERVALS}.`;
    throw new MockProblem(400, detail, { interval: current });
  }

  /** The interval, as soon as it is sealed. */
  async read(interval: number, signal: AbortSignal | null): Promise<Response> {
    if (interval >= this.#next) await this.#sealing(interval, signal);
    return json(this.#contentOf(interval));
  }

  /** All intervals from this one on, as they are sealed, until the viewer's token expires. */
  stream(from: number, expiresMs: number, signal: AbortSignal | null): Response {
    let unwatch = () => {};
    const stream = new MockEventStream(signal, () => {
      unwatch();
      this.#streams.delete(stream);
    });
    this.#streams.add(stream);
    const oldest = this.#next - RECENT_INTERVALS;
    for (let interval = from; interval < this.#next; interval++) {
      if (interval >= oldest || this.#sealed.has(interval)) stream.send(this.#contentOf(interval));
    }
    unwatch = this.#watch((interval) => {
      if (this.time.now() >= expiresMs) stream.end();
      else if (interval >= from) stream.send(this.#contentOf(interval));
    });
    return stream.response;
  }

  /** Breaks the event streams that are open. */
  cutStreams(): void {
    for (const stream of [...this.#streams]) stream.cut();
  }

  /** Ends the event streams that are open. */
  endStreams(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  #contentOf(interval: number): EventsInterval {
    return { interval, events: this.#sealed.get(interval) ?? [] };
  }

  #sealing(interval: number, signal: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const unwatch = this.#watch((sealed) => {
        if (sealed < interval) return;
        unwatch();
        resolve();
      });
      const onAbort = () => {
        unwatch();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #watch(told: (interval: number) => void): () => void {
    this.#waiting.add(told);
    this.#timer ??= this.#atEnd();
    return () => {
      this.#waiting.delete(told);
      if (this.#waiting.size > 0) return;
      // A timer that nobody waits for would keep a program from its end.
      this.#timer?.();
      this.#timer = null;
    };
  }

  #atEnd(): () => void {
    const waitMs = intervalStartMs(this.#next + 1) - this.time.now();
    return this.time.after(Math.max(waitMs, 1), () => {
      this.#timer = null;
      this.seal();
      if (this.#waiting.size > 0) this.#timer ??= this.#atEnd();
    });
  }
}
