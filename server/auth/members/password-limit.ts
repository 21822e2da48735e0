import { networkOf } from '../../http/address.ts';
import { KeyWindows, type RateLimit, RateLimiter } from '../../platform/rate-limiter.ts';

/** How many more passwords an email gets from all clients together than from one. */
const CLIENTS_FACTOR = 10;

/**
 * Limits password attempts, so that nobody guesses a password or locks a member out (SPEC L-16).
 * Unknown clients are counted by address and email, and all of them together by email, which slows down a
 * guesser with many addresses. Known devices and sessions are counted one by one, whatever others do.
 */
export class PasswordLimit {
  private readonly ofClient: RateLimiter;
  private readonly ofEmail: RateLimiter;
  private readonly ofKnown: RateLimiter;

  constructor({ points, durationS }: RateLimit) {
    const limiter = (most: number) =>
      new RateLimiter(
        'passwords for this email',
        new KeyWindows({ points: most, durationS }, { networkOf }),
      );
    this.ofClient = limiter(points);
    this.ofEmail = limiter(points * CLIENTS_FACTOR);
    this.ofKnown = limiter(points);
  }

  /**
   * Counts an attempt of an unknown client.
   * @param client the rate limit key of its address
   * @param nowMs of a clock that never goes back
   * @throws RateLimited when a limit is reached
   */
  take(client: string, email: string, nowMs = performance.now()): void {
    this.ofClient.take(`${client} ${email}`, nowMs);
    this.ofEmail.take(email, nowMs);
  }

  /**
   * Counts an attempt of a known device or of a session.
   * @param id of the device or of the session's member: nobody else can use it
   * @throws RateLimited when its limit is reached
   */
  takeKnown(id: string, nowMs = performance.now()): void {
    this.ofKnown.take(id, nowMs);
  }
}
