import type { ApiClient } from '../api-client.ts';
import { Backoff } from '../back-off.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { FourbeatError, toFourbeatError } from '../errors.ts';
import type { EventsInterval } from '../types.ts';
import { readEventStream } from './event-stream.ts';
import type { FeedPosition } from './feed-position.ts';
import type { FeedPoller } from './polling.ts';

const WATCH_MS = 500;
// Reactions to a stream that delivers nothing for this long; 4 intervals a second are normal.
const FALLBACK_AFTER_MS = 3_000;
const ABORT_AFTER_MS = 5_000;
// A stream that ends after this time is normal (its token expired, or its node stops): no backoff.
const MIN_LIFETIME_MS = 10_000;
// A crowd that was disconnected together reconnects over this time.
const SPREAD_MS = 1_000;
// Where polls work and streams do not, a proxy buffers streams: the wait is this much longer.
const BLOCKED_STREAM_FACTOR = 60;

// How a stream that delivered something ended.
const ENDED = 1;
const BROKEN = 2;
type StreamEnd = typeof ENDED | typeof BROKEN;

/** Reads event streams one after another, each from the position where the last one ended. */
export class FeedStreamer {
  readonly #env: Environment;
  readonly #clock: Pick<ServiceClock, 'nowMs' | 'resync'>;
  readonly #api: Pick<ApiClient, 'interval' | 'eventStream'>;
  readonly #position: FeedPosition;
  readonly #fallback: FeedPoller | null;
  readonly #backoff: Backoff;
  #isStopped = false;
  #abort = new AbortController();
  #hasDelivered = false;
  #isStalled = false;
  /** Time of the last delivery by the service's clock: monotonic clocks may stand still during a sleep. */
  #deliveredMs = 0;
  #resume = () => {};
  #cancelPause = () => {};
  #cancelWatch = () => {};

  /** @param fallback delivers the feed while event streams do not; null: none */
  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'resync'>,
    api: Pick<ApiClient, 'interval' | 'eventStream'>,
    position: FeedPosition,
    fallback: FeedPoller | null,
  ) {
    this.#env = env;
    this.#clock = clock;
    this.#api = api;
    this.#position = position;
    this.#fallback = fallback;
    this.#backoff = new Backoff(env.random);
  }

  async start(): Promise<void> {
    while (!this.#isStopped) {
      const startedMs = this.#env.monotonicMs();
      // Read before the attempt: a stream that fails while an outage ends is retried at the usual pace.
      const wasFallbackWorking = this.#fallback?.isWorking;
      const ending = await this.#read();
      if (this.#isStopped) return;
      const hasLasted = this.#env.monotonicMs() - startedMs >= MIN_LIFETIME_MS;
      const error = ending instanceof FourbeatError ? ending : null;
      const waitMs = ending === ENDED && hasLasted ? 0 : this.#waitMs(error, wasFallbackWorking);
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
        this.#pause(waitMs);
      });
    }
  }

  /** The service is reachable again: retry soon, unless it asked to wait. */
  retry(): void {
    // All viewers notice it in the same second, so spread the retries.
    if (!this.#backoff.requestedMs) this.#pause(this.#env.random() * SPREAD_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#abort.abort();
    this.#cancelPause();
    this.#cancelWatch();
  }

  #pause(ms: number): void {
    this.#cancelPause();
    const spreadMs = this.#env.random() * SPREAD_MS;
    this.#cancelPause = this.#env.after(ms + spreadMs, this.#resume);
  }

  /** Reads one stream to its end. @returns how it ended, or why it delivered nothing */
  async #read(): Promise<StreamEnd | FourbeatError> {
    this.#abort = new AbortController();
    this.#hasDelivered = false;
    this.#isStalled = false;
    const { signal } = this.#abort;
    const startedMs = this.#env.monotonicMs();
    let ending: StreamEnd = ENDED;
    try {
      const { from } = this.#position;
      const { body } = await this.#api.eventStream(from, signal);
      ending = BROKEN;
      this.#position.skipTo(from);
      this.#deliveredMs = this.#clock.nowMs();
      this.#watch();
      if (body) await readEventStream(body, signal, (data) => this.#onData(data));
      ending = ENDED;
    } catch (thrown) {
      // Still `ENDED`: the stream could not be opened.
      if (ending === ENDED) return this.#onOpenFailed(toFourbeatError(thrown), startedMs);
    }
    this.#cancelWatch();
    if (this.#hasDelivered && !this.#isStalled) return ending;
    if (!this.#isStopped) this.#fallback?.start();
    return new FourbeatError('unavailable', 'Feed is silent.');
  }

  #onOpenFailed(error: FourbeatError, startedMs: number): FourbeatError {
    const hasTimedOut = this.#env.monotonicMs() - startedMs >= FALLBACK_AFTER_MS;
    const isBlocked = hasTimedOut || error.kind === 'refused';
    // Some proxies buffer even the headers of a stream, or refuse it.
    if (isBlocked && !this.#isStopped) this.#fallback?.start();
    return error;
  }

  /** Time to wait before the next stream. @param error null: the last one delivered something */
  #waitMs(error: FourbeatError | null, wasFallbackWorking?: boolean): number {
    if (error && !this.#fallback?.isWorking) this.#position.fail(error);
    // 400: the interval is too far ahead, so the clock is wrong.
    if (error?.status === 400) this.#clock.resync();
    return (
      this.#backoff.nextMs(error) *
      (wasFallbackWorking && !this.#hasDelivered ? BLOCKED_STREAM_FACTOR : 1)
    );
  }

  #onData(data: string): void {
    const interval = JSON.parse(data) as EventsInterval;
    // Also ignores what has no interval, as from a proxy: the feed is silent then.
    if (!(interval.interval >= this.#position.next)) return;
    this.#hasDelivered = true;
    this.#deliveredMs = this.#clock.nowMs();
    // The machine slept, and the clock has noticed by now.
    if (this.#position.isTooFar(interval.interval)) {
      this.#abort.abort();
      return;
    }
    this.#backoff.reset();
    this.#fallback?.stop();
    this.#position.accept(interval);
  }

  #watch(): void {
    this.#cancelWatch = this.#env.after(WATCH_MS, () => {
      const silentMs = this.#clock.nowMs() - this.#deliveredMs;
      if (silentMs >= FALLBACK_AFTER_MS) this.#fallback?.start();
      // When the fallback does not work either, the stream is not at fault.
      this.#isStalled = silentMs >= ABORT_AFTER_MS && (this.#fallback?.isWorking ?? true);
      if (this.#isStalled) this.#abort.abort();
      else this.#watch();
    });
  }
}
