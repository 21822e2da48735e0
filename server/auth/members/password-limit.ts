import { clientKey, networkOf } from '../../http/address.ts';
import { KeyWindows, type RateLimit, RateLimiter } from '../../platform/rate-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import type { KnownDevice } from './known-devices.ts';

/** All clients of an email get this many times the attempts of one client; so do all known devices of a member. */
export const CLIENTS_FACTOR = 10;

/**
 * Limits password attempts, so that nobody guesses a password or locks a member out (SPEC L-16).
 * Unknown clients are counted by address and email, and all of them together by email, which slows down a
 * guesser with many addresses. Known devices are counted one by one and by member, apart from unknown clients:
 * whoever had the password for a while can have many. Members with a session are counted one by one.
 */
export class PasswordLimit {
  private readonly ofClient: RateLimiter;
  private readonly ofEmail: RateLimiter;
  private readonly ofDevice: RateLimiter;
  private readonly ofDevices: RateLimiter;
  private readonly ofMember: RateLimiter;

  constructor({ points, durationS }: RateLimit) {
    const limiter = (most: number) =>
      new RateLimiter(
        'passwords for this email',
        new KeyWindows({ points: most, durationS }, { networkOf }),
      );
    this.ofClient = limiter(points);
    this.ofEmail = limiter(points * CLIENTS_FACTOR);
    this.ofDevice = limiter(points);
    this.ofDevices = limiter(points * CLIENTS_FACTOR);
    this.ofMember = limiter(points);
  }

  /**
   * Counts an attempt of an unknown client.
   * @param client the rate limit key of its address
   * @param nowMs of a clock that never goes back
   * @throws RateLimited when a limit is reached
   */
  take(client: string, email: string, nowMs = runtime.monotonicMs()): void {
    // By /64, ten networks of one customer would use up the limit of all clients for this email.
    this.ofClient.take(`${clientKey(client)} ${email}`, nowMs);
    this.ofEmail.take(email, nowMs);
  }

  /**
   * Counts an attempt of a known device, and of all devices of its member.
   * @throws RateLimited when a limit is reached
   */
  takeDevice({ id, member }: KnownDevice, nowMs = runtime.monotonicMs()): void {
    this.ofDevice.take(id, nowMs);
    this.ofDevices.take(member, nowMs);
  }

  /** Counts an attempt of a member who has a session. @throws RateLimited when its limit is reached */
  takeMember(uuid: string, nowMs = runtime.monotonicMs()): void {
    this.ofMember.take(uuid, nowMs);
  }
}
