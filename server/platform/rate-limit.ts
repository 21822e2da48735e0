import { Problem } from '../http/problem.ts';

/** So many requests in so many seconds for each key (SPEC L). */
export interface RateLimit {
  readonly points: number;
  readonly durationS: number;
}

/** What is left of the share of a key until it is forgotten. */
interface Share {
  left: number;
  readonly endMs: number;
}

// About 15 MB.
const KEYS_MAX = 100_000;

/**
 * A rate limit at work in this process. A share begins with its first request. Own, as that of
 * answers must be (`SeatRate`), which tells no in the same words: 0.1 µs, where rate-limiter-flexible
 * with its promise and a timer for each key takes 1 µs.
 */
export class Rate {
  private readonly durationMs: number;
  // Oldest first, since all live equally long.
  private readonly shares = new Map<string, Share>();
  /** Of those that come beyond `keysMax`. */
  private others: Share | null = null;
  private oldestEndMs = Number.POSITIVE_INFINITY;

  /**
   * @param keysMax so many keys have a share each; those that come beyond them have one together
   * @param nowMs a clock that is never set back
   */
  constructor(
    private readonly what: string,
    private readonly limit: RateLimit,
    private readonly keysMax = KEYS_MAX,
    private readonly nowMs = () => performance.now(),
  ) {
    this.durationMs = limit.durationS * 1_000;
  }

  /** Uses one request of this key's share. @throws Problem 429 when it is used up. */
  take(key: string): void {
    const nowMs = this.nowMs();
    if (nowMs >= this.oldestEndMs) this.forget(nowMs);
    const share = this.shares.get(key) ?? this.newShare(key, nowMs);
    if (share.left === 0) throw tooMany(this.what, share.endMs - nowMs);
    share.left--;
  }

  private newShare(key: string, nowMs: number): Share {
    const share = { left: this.limit.points, endMs: nowMs + this.durationMs };
    if (this.shares.size >= this.keysMax) {
      if (this.others === null || this.others.endMs <= nowMs) this.others = share;
      return this.others;
    }
    this.shares.set(key, share);
    this.oldestEndMs = Math.min(this.oldestEndMs, share.endMs);
    return share;
  }

  private forget(nowMs: number): void {
    this.oldestEndMs = Number.POSITIVE_INFINITY;
    for (const [key, { endMs }] of this.shares) {
      if (endMs > nowMs) {
        this.oldestEndMs = endMs;
        return;
      }
      this.shares.delete(key);
    }
  }
}

/** @param msBeforeNext until a request is taken again */
export function tooMany(what: string, msBeforeNext: number): Problem {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new Problem(429, `Too many ${what}; try again in ${seconds} s.`, {
    'Retry-After': String(seconds),
  });
}
