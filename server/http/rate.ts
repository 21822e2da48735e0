import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from './problem.ts';

/** So many requests in so many seconds for each key (SPEC L). */
export interface RateLimit {
  readonly points: number;
  readonly durationS: number;
}

/** A rate limit at work in this process. */
export class Rate {
  private readonly limiter: RateLimiterMemory;

  constructor(
    private readonly what: string,
    limit: RateLimit,
  ) {
    this.limiter = new RateLimiterMemory({ points: limit.points, duration: limit.durationS });
  }

  /** Uses one request of this key's share. @throws Problem 429 when it is used up. */
  async take(key: string): Promise<void> {
    try {
      await this.limiter.consume(key);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw this.problem(refused.msBeforeNext);
    }
  }

  /** @throws Problem 429 when this key's share is used up already; uses none of it. */
  async check(key: string): Promise<void> {
    const used = await this.limiter.get(key);
    if (used && used.remainingPoints <= 0) throw this.problem(used.msBeforeNext);
  }

  private problem(msBeforeNext: number): Problem {
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    return new Problem(429, `Too many ${this.what}; try again in ${seconds} s.`, {
      'Retry-After': String(seconds),
    });
  }
}
