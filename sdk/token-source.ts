import { Backoff } from './back-off.ts';
import type { Environment } from './environment.ts';
import { FourbeatError, toFourbeatError } from './errors.ts';

// Fraction of a token's lifetime; spread so that a crowd that joined together does not renew together.
const RENEW_AT = 0.75;
const RENEW_SPREAD = 0.1;
// Timers are limited to 31 bits.
const TIMER_MAX_MS = 2_000_000_000;
// When a token is rejected this soon after another one, new tokens do not help.
const REPEATED_REJECTION_MS = 60_000;
// After an outage that invalidated all tokens, the crowd renews them over this time.
const SPREAD_MS = 2_000;
// On a dead connection, `getToken` of the app may never settle.
const TIMEOUT_MS = 10_000;

/** Provides the viewer token, and renews it before it expires. */
export class TokenSource {
  readonly #env: Environment;
  readonly #requestToken: () => Promise<string>;
  readonly #failureBackoff: Backoff;
  readonly #rejectionBackoff: Backoff;
  #token = '';
  #expiresMs = 0;
  #rejectedToken = '';
  #rejectedMs = -REPEATED_REJECTION_MS;
  #pending: Promise<string> | null = null;
  /** Why no token is requested before `#retryAtMs`. */
  #error: FourbeatError | null = null;
  #retryAtMs = 0;
  #isStopped = false;
  #isRenewalStopped = false;
  #cancelTimer = () => {};

  /** @param requestToken returns a new token within 10 s */
  constructor(env: Environment, requestToken: () => Promise<string>) {
    this.#env = env;
    this.#requestToken = requestToken;
    this.#failureBackoff = new Backoff(env.random);
    this.#rejectionBackoff = new Backoff(env.random);
  }

  /**
   * The current token. Concurrent callers share one request; during a renewal they get the old token.
   * @throws FourbeatError when there is none; after a failure the same error for a while, without a
   * request
   */
  async get(): Promise<string> {
    this.#throwIfStopped();
    const nowMs = this.#env.monotonicMs();
    if (this.#token && nowMs < this.#expiresMs) return this.#token;
    if (this.#error && nowMs < this.#retryAtMs) throw this.#error;
    return this.#renew();
  }

  /**
   * Discards a token that the service rejected (401).
   * @param isOutage whether the tokens of all viewers may be rejected: delays the request for a new one
   */
  reject(token: string, isOutage?: boolean): void {
    if (token !== this.#token) return;
    const nowMs = this.#env.monotonicMs();
    this.#token = '';
    this.#rejectedToken = token;
    if (!this.#pending) this.#cancelTimer();
    if (nowMs - this.#rejectedMs < REPEATED_REJECTION_MS) {
      const error = new FourbeatError('denied', 'Token rejected.', 401);
      this.#blockFor(this.#rejectionBackoff.nextMs(error), error);
    } else {
      this.#rejectionBackoff.reset();
      if (isOutage) this.#blockFor(SPREAD_MS * this.#env.random());
    }
    this.#rejectedMs = nowMs;
  }

  /** Stops renewals: from now on a token is requested only when it is needed. */
  stopRenewal(): void {
    this.#isRenewalStopped = true;
    if (!this.#pending) this.#cancelTimer();
  }

  /** The service is reachable again: allow a request now, unless the service asked to wait. */
  retry(): void {
    if (!this.#failureBackoff.requestedMs) this.#retryAtMs = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  /** @throws FourbeatError `left` */
  #throwIfStopped(): void {
    if (this.#isStopped) throw new FourbeatError('left', 'Viewer left.');
  }

  #renew(): Promise<string> {
    this.#pending ??= this.#fetch().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #fetch(): Promise<string> {
    try {
      const token = await Promise.race([this.#requestToken(), this.#timeout()]);
      this.#throwIfStopped();
      if (token === this.#rejectedToken) throw new FourbeatError('denied', 'Token rejected.', 401);
      this.#store(token);
      return token;
    } catch (thrown) {
      const error = toFourbeatError(thrown, `getToken: ${thrown}`);
      this.#renewIn(this.#blockFor(this.#failureBackoff.nextMs(error), error));
      throw error;
    }
  }

  /** Rejects after TIMEOUT_MS. Replaces the renewal timer, which is set again when the request ends. */
  #timeout(): Promise<never> {
    return new Promise((_, reject) => {
      this.#cancelTimer();
      this.#cancelTimer = this.#env.after(TIMEOUT_MS, () =>
        reject(new FourbeatError('unavailable', 'No token.')),
      );
    });
  }

  #store(token: string): void {
    const lifeMs = lifeMsOf(token);
    this.#token = token;
    this.#failureBackoff.reset();
    this.#expiresMs = this.#env.monotonicMs() + lifeMs;
    this.#renewIn(lifeMs * (RENEW_AT + RENEW_SPREAD * this.#env.random()));
  }

  /** Requests no token for this time. @returns the time, ms */
  #blockFor(ms: number, error = new FourbeatError('busy', 'Token rejected.', null, ms)): number {
    this.#error = error;
    this.#retryAtMs = this.#env.monotonicMs() + ms;
    return ms;
  }

  /** Schedules a renewal if there is a token; without one the next caller of `get` requests it. */
  #renewIn(ms: number): void {
    this.#cancelTimer();
    if (this.#isStopped || this.#isRenewalStopped || !this.#token || ms === Infinity) return;
    this.#cancelTimer = this.#env.after(Math.min(ms, TIMER_MAX_MS), () => {
      this.#renew().catch(() => {});
    });
  }
}

/**
 * @returns lifetime of a JWT, ms; infinite when the token has none of a second or more, or is not a JWT
 * @throws TypeError when it is not a string
 */
function lifeMsOf(token: string): number {
  const [, claims = ''] = token.split('.');
  try {
    const { iat, exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')));
    return exp >= iat + 1 ? (exp - iat) * 1_000 : Infinity;
  } catch {
    return Infinity;
  }
}
