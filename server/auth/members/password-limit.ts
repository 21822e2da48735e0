import { LRUCache } from 'lru-cache';
import { KeyWindows, type RateLimit, RateLimiter } from '../../platform/rate-limiter.ts';

/** How many more passwords an email gets from all clients together than from one. */
const CLIENTS_FACTOR = 10;
/** Clients that are remembered; about 2 MB. */
const FAMILIAR_MAX = 10_000;

/**
 * Limits password attempts by client and email, so that nobody locks a member out (SPEC L-16). The attempts
 * of all clients for an email are limited too, which slows down a guesser with many addresses; this limit
 * does not apply to clients that gave the right password before.
 */
export class PasswordLimit {
  private readonly ofClient: RateLimiter;
  private readonly ofEmail: RateLimiter;
  /** By client and email. */
  private readonly familiar = new LRUCache<string, true>({ max: FAMILIAR_MAX });

  constructor({ points, durationS }: RateLimit) {
    const name = 'passwords for this email';
    const all = { points: points * CLIENTS_FACTOR, durationS };
    this.ofClient = new RateLimiter(name, new KeyWindows({ points, durationS }));
    this.ofEmail = new RateLimiter(name, new KeyWindows(all));
  }

  /**
   * Counts an attempt.
   * @param client the address, or the session, from which it comes
   * @param nowMs of a clock that never goes back
   * @throws RateLimited when a limit is reached
   */
  take(client: string, email: string, nowMs = performance.now()): void {
    const key = keyOf(client, email);
    this.ofClient.take(key, nowMs);
    if (!this.familiar.has(key)) this.ofEmail.take(email, nowMs);
  }

  /** The attempt had the right password. */
  succeed(client: string, email: string): void {
    this.familiar.set(keyOf(client, email), true);
  }
}

const keyOf = (client: string, email: string) => `${client} ${email}`;
