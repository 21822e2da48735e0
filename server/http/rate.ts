import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from './problem.ts';

/** So many requests in so many seconds for each key (SPEC L). */
export interface RateLimit {
  readonly points: number;
  readonly durationS: number;
}

// About 70 MB: each key is an entry and a timer.
const KEYS_MAX = 100_000;
// No address and no id of an account or viewer begins with a blank.
const ALL_OTHERS = ' others';

/** A rate limit at work in this process. */
export class Rate {
  private readonly limiter: RateLimiterMemory;
  private readonly durationMs: number;
  // When the share of each key is forgotten; oldest first, since all live equally long.
  private readonly ends = new Map<string, number>();

  /** @param keysMax so many keys have a share each; those that come beyond them have one together */
  constructor(
    private readonly what: string,
    limit: RateLimit,
    private readonly keysMax = KEYS_MAX,
  ) {
    this.limiter = new RateLimiterMemory({ points: limit.points, duration: limit.durationS });
    this.durationMs = limit.durationS * 1_000;
  }

  /** Uses one request of this key's share. @throws Problem 429 when it is used up. */
  async take(key: string): Promise<void> {
    try {
      await this.limiter.consume(this.keptKey(key));
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw this.problem(refused.msBeforeNext);
    }
  }

  private keptKey(key: string): string {
    const nowMs = Date.now();
    for (const [oldest, endMs] of this.ends) {
      if (endMs > nowMs) break;
      this.ends.delete(oldest);
    }
    if (!this.ends.has(key)) {
      if (this.ends.size >= this.keysMax) return ALL_OTHERS;
      this.ends.set(key, nowMs + this.durationMs);
    }
    return key;
  }

  private problem(msBeforeNext: number): Problem {
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    return new Problem(429, `Too many ${this.what}; try again in ${seconds} s.`, {
      'Retry-After': String(seconds),
    });
  }
}
