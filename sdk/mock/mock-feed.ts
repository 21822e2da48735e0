import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../protocol/limits.ts';
import type { EventsInterval, StreamEvent } from '../types.ts';
import { MockEventStream } from './mock-event-stream.ts';
import { json, MockProblem } from './mock-replies.ts';

/** Time source of the mock. */
export interface MockClock {
  /** Unix ms. */
  readonly now: () => number;
  /** Runs a function once after this time. @returns a function that cancels it */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** Event streams omit empty intervals that are older than this (SPEC F-23). */
const RECENT_INTERVALS = (10 * 60_000) / INTERVAL_MS;
const CANONICAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** The feed (SPEC F). An interval that has ended is sealed and never changes. */
export class MockFeed {
  /** Events of sealed intervals that are not empty. */
  readonly #sealed = new Map<number, readonly StreamEvent[]>();
  /** Called with each interval that is sealed. */
  readonly #watchers = new Set<(interval: number) => void>();
  readonly #streams = new Set<MockEventStream>();
  /** The first interval that is not sealed. */
  #next: number;
  #cancelTimer: (() => void) | null = null;

  /** @param eventsOf returns the events of the interval that has just ended */
  constructor(
    readonly clock: MockClock,
    readonly eventsOf: (interval: number) => readonly StreamEvent[],
  ) {
    this.#next = intervalAt(clock.now());
  }

  get hasReaders(): boolean {
    return this.#watchers.size > 0;
  }

  /** Seals all intervals that have ended. Call it before every operation. */
  seal(): void {
    for (const current = intervalAt(this.clock.now()); this.#next < current; ) {
      const interval = this.#next;
      const events = this.eventsOf(interval);
      if (events.length > 0) this.#sealed.set(interval, events);
      this.#next += 1;
      for (const onSealed of [...this.#watchers]) onSealed(interval);
    }
  }

  /** Parses the `interval` parameter. @throws MockProblem 400, with the current interval */
  parseInterval(text: string | null): number {
    const current = intervalAt(this.clock.now());
    const interval = text !== null && CANONICAL.test(text) ? Number(text) : Number.NaN;
    if (interval <= current + AHEAD_INTERVALS) return interval;
    const detail = `interval must be a whole number up to ${current + AHEAD_INTERVALS}.`;
    throw new MockProblem(400, detail, { interval: current });
  }

  /** Responds with the interval as soon as it is sealed. */
  async read(interval: number, signal: AbortSignal | null): Promise<Response> {
    if (interval >= this.#next) await this.#waitUntilSealed(interval, signal);
    return json(this.#intervalContent(interval));
  }

  /** Streams all intervals from this one on, until the viewer's token expires. */
  stream(from: number, expiresMs: number, signal: AbortSignal | null): Response {
    let unwatch = () => {};
    const stream = new MockEventStream(signal, () => {
      unwatch();
      this.#streams.delete(stream);
    });
    this.#streams.add(stream);
    const oldest = this.#next - RECENT_INTERVALS;
    for (let interval = from; interval < this.#next; interval++) {
      if (interval >= oldest || this.#sealed.has(interval))
        stream.send(this.#intervalContent(interval));
    }
    unwatch = this.#watch((interval) => {
      if (this.clock.now() >= expiresMs) stream.end();
      else if (interval >= from) stream.send(this.#intervalContent(interval));
    });
    return stream.response;
  }

  breakStreams(): void {
    for (const stream of [...this.#streams]) stream.abort();
  }

  endStreams(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  #intervalContent(interval: number): EventsInterval {
    return { interval, events: this.#sealed.get(interval) ?? [] };
  }

  #waitUntilSealed(interval: number, signal: AbortSignal | null): Promise<void> {
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

  #watch(onSealed: (interval: number) => void): () => void {
    this.#watchers.add(onSealed);
    this.#cancelTimer ??= this.#sealAtEnd();
    return () => {
      this.#watchers.delete(onSealed);
      if (this.#watchers.size > 0) return;
      // A timer without watchers would keep the process alive.
      this.#cancelTimer?.();
      this.#cancelTimer = null;
    };
  }

  #sealAtEnd(): () => void {
    const waitMs = intervalStartMs(this.#next + 1) - this.clock.now();
    return this.clock.after(Math.max(waitMs, 1), () => {
      this.#cancelTimer = null;
      this.seal();
      if (this.#watchers.size > 0) this.#cancelTimer ??= this.#sealAtEnd();
    });
  }
}
