import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';
import type { ApiClient } from '../api-client.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { FourbeatError } from '../errors.ts';
import { IntervalFetcher } from '../interval-fetcher.ts';
import type { EventsInterval } from '../types.ts';
import type { FeedPosition } from './feed-position.ts';

// Polls wait no longer for the clock's error: the service accepts them up to a second early.
const MAX_CLOCK_ERROR_MS = 500;
// A single failure that is retried within this time is not reported.
const SHORT_FAILURE_MS = 2_000;

interface PendingRequest {
  readonly interval: number;
  /** On the monotonic clock. */
  readonly sentMs: number;
  result: EventsInterval | null;
}

/** Requests each interval when it has ended, and delivers the responses in order. */
export class FeedPoller {
  readonly #env: Environment;
  readonly #clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'resync'>;
  readonly #position: FeedPosition;
  readonly #fetcher: IntervalFetcher;
  readonly #phaseMs: number;
  #pending: PendingRequest[] = [];
  #isStopped = true;
  #cancelTimer = () => {};

  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'resync'>,
    api: Pick<ApiClient, 'interval'>,
    position: FeedPosition,
  ) {
    this.#env = env;
    this.#clock = clock;
    this.#position = position;
    this.#fetcher = new IntervalFetcher(env, api);
    this.#phaseMs = env.random() * INTERVAL_MS;
  }

  /** Whether it currently delivers the feed. */
  get isWorking(): boolean {
    return !this.#isStopped && this.#fetcher.isWorking;
  }

  /** Starts, or restarts after `stop`. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#fetcher.isWorking = false;
    this.#tick();
  }

  /** The service is reachable again: retry now, unless it asked to wait. */
  retry(): void {
    this.#fetcher.retry();
    this.#tick();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pending = [];
    this.#cancelTimer();
  }

  #tick(): void {
    this.#cancelTimer();
    while (!this.#isStopped) {
      const interval = Math.max(this.#position.from, (this.#pending.at(-1)?.interval ?? 0) + 1);
      const errorMs = Math.min(this.#clock.errorMs, MAX_CLOCK_ERROR_MS);
      const dueMs = intervalStartMs(interval + 1) + errorMs + this.#phaseMs;
      const waitMs = Math.max(dueMs - this.#clock.nowMs(), this.#fetcher.waitMs);
      if (waitMs > 0) {
        // Infinite: the next response calls this method again.
        if (waitMs < Infinity) {
          this.#cancelTimer = this.#env.after(Math.ceil(waitMs), () => this.#tick());
        }
        return;
      }
      void this.#request({ interval, sentMs: this.#env.monotonicMs(), result: null });
    }
  }

  async #request(request: PendingRequest): Promise<void> {
    const wasWorking = this.#fetcher.isWorking;
    this.#pending.push(request);
    try {
      request.result = await this.#fetcher.fetchInterval(request.interval);
    } catch (error) {
      if (this.#pending.includes(request)) this.#fail(request, error as FourbeatError, wasWorking);
    }
    this.#deliver();
    this.#tick();
  }

  #deliver(): void {
    for (let [first] = this.#pending; first?.result; [first] = this.#pending) {
      this.#pending.shift();
      this.#position.skipTo(first.interval);
      this.#position.accept(first.result);
    }
  }

  #fail(failed: PendingRequest, error: FourbeatError, wasWorking: boolean): void {
    // Discard this request and all later ones: `#tick` sends them again.
    this.#pending.splice(this.#pending.indexOf(failed));
    const failureMs = this.#env.monotonicMs() - failed.sentMs + (error.retryAfterMs ?? 0);
    if (!wasWorking || failureMs > SHORT_FAILURE_MS) this.#position.fail(error);
    // 400: the interval is too far ahead, so the clock is wrong.
    if (error.status === 400) this.#clock.resync();
  }
}
