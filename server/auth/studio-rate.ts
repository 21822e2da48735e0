import { networkOf } from '../http/address.ts';
import { KeyWindows, type RateLimit, RateLimiter } from '../platform/rate-limiter.ts';

/**
 * Limits studio requests (SPEC L-8) of each account, and of each of its members to half of them: else one
 * member, such as a moderator, could keep the others from running the show and from removing it.
 */
export class StudioRate {
  private readonly ofAccount: RateLimiter;
  private readonly ofMember: RateLimiter;

  constructor({ points, durationS }: RateLimit) {
    const limiter = (name: string, most: number) =>
      new RateLimiter(name, new KeyWindows({ points: most, durationS }, { networkOf }));
    this.ofAccount = limiter('requests of this account', points);
    this.ofMember = limiter('requests of this member', Math.ceil(points / 2));
  }

  /**
   * Counts a request.
   * @param key the uuid of the account, or another key with a limit of its own
   * @param member the uuid of the member who sent it; null: a program
   * @throws RateLimited when a limit is reached
   */
  take(key: string, member: string | null): void {
    if (member !== null) this.ofMember.take(member);
    this.ofAccount.take(key);
  }
}
