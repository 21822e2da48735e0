import type { ApiClient } from './api-client.ts';
import { Backoff } from './back-off.ts';
import type { Environment } from './environment.ts';
import { requireFourbeat, toFourbeatError } from './errors.ts';
import type { EventsInterval } from './types.ts';

// Twice the rate of intervals: a crowd that catches up sends at most twice the usual requests.
const MAX_REQUESTS_PER_SECOND = 8;
// Less than a second / 8, since timers are late.
const SPACING_MS = 100;
// As many intervals as a request may take (5 s); with fewer, slow networks fall behind.
const MAX_IN_FLIGHT = 20;

/**
 * Fetches intervals with limited rate and concurrency; after a failure one at a time until one
 * succeeds.
 */
export class IntervalFetcher {
  /** Whether the last request succeeded. */
  isWorking = false;
  readonly #env: Environment;
  readonly #api: Pick<ApiClient, 'interval'>;
  readonly #backoff: Backoff;
  #inFlight = 0;
  #failures = 0;
  #notBeforeMs = 0;
  /** Times at which the last seven requests were sent. */
  readonly #sentMs = Array<number | undefined>(MAX_REQUESTS_PER_SECOND - 1);

  constructor(env: Environment, api: Pick<ApiClient, 'interval'>) {
    this.#env = env;
    this.#api = api;
    this.#backoff = new Backoff(env.random);
  }

  /** Time until the next request may start, ms; not positive: now; infinite: after a response. */
  get waitMs(): number {
    const isFull = this.#inFlight >= (this.isWorking ? MAX_IN_FLIGHT : 1);
    return isFull ? Infinity : this.#notBeforeMs - this.#env.monotonicMs();
  }

  /** The service is reachable again: allow the next request now, unless the service asked to wait. */
  retry(): void {
    if (!this.isWorking && !this.#backoff.requestedMs) this.#notBeforeMs = 0;
  }

  /** @throws FourbeatError, and delays the next request */
  async fetchInterval(interval: number): Promise<EventsInterval> {
    const nowMs = this.#env.monotonicMs();
    this.#sentMs.push(nowMs);
    // Browsers call the timers of a hidden page once a second: its requests are sent together.
    this.#notBeforeMs = Math.max(
      (this.#sentMs.shift() ?? 0) + 1_000,
      this.#env.visibility?.isHidden() ? 0 : nowMs + SPACING_MS,
    );
    const failuresBefore = this.#failures;
    this.#inFlight++;
    try {
      const result = await this.#api.interval(interval);
      requireFourbeat(result.interval === interval);
      this.isWorking = true;
      this.#backoff.reset();
      return result;
    } catch (thrown) {
      const error = toFourbeatError(thrown);
      this.isWorking = false;
      // Requests that were in flight together count as one failure.
      if (failuresBefore === this.#failures) {
        this.#failures++;
        // Do not wait for the others, which fail with it.
        this.#inFlight = 0;
        this.#notBeforeMs = this.#env.monotonicMs() + this.#backoff.nextMs(error);
      }
      throw error;
    } finally {
      if (failuresBefore === this.#failures) this.#inFlight--;
    }
  }
}
