import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { RateLimited } from '../platform/errors.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import { runtime } from '../platform/runtime.ts';

/** Most large bodies of an account that arrive or wait to be parsed. */
export const LARGE_BODIES_MAX = 64;
/** Most that wait to be parsed, of all accounts. */
const QUEUED_MAX = 1_024;

/**
 * Bodies of imports and rundowns, over 16 KB (SPEC L-18). One of 1 MB takes about 5 ms to parse, and an account could
 * complete 100 of them at once: each is parsed in a turn of the event loop of its own, and accounts take turns.
 */
export class LargeBodies {
  private readonly counts = new KeyCounts(LARGE_BODIES_MAX);
  private readonly parses = new ConcurrencyLimiter(
    1,
    QUEUED_MAX,
    'Too many large bodies arrive at once; try again in a second.',
  );

  /**
   * Counts a body for its account until it is parsed.
   * @param read reads the body, waits for `beforeParse`, and parses it
   * @throws RateLimited when the account has too many
   * @throws Unavailable when too many wait
   */
  async run<T>(
    account: string,
    read: (beforeParse: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    if (!this.counts.add(account))
      throw new RateLimited('Too many large bodies at once; try again in 5 s.', 5);
    const nextTurn = () => new Promise<void>((resolve) => runtime.setImmediate(resolve));
    try {
      return await read(() => this.parses.run(account, nextTurn));
    } finally {
      this.counts.remove(account);
    }
  }
}
