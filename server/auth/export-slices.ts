import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { RateLimited } from '../platform/errors.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import type { Pace } from '../platform/pace.ts';

/** Most exports that a node sends to one account at once; more get 429. */
export const EXPORTS_MAX = 4;
/** Most slices that wait; an export waits with one, so it takes 2,500 accounts to fill the queue. */
const SLICES_QUEUED_MAX = 10_000;

/**
 * The slices of all exports (SPEC L-20): one is made at a time, paced, and accounts take turns. A slice takes
 * 5 ms, and 32 exports of one account took 150 ms of each turn of the event loop.
 */
export class ExportSlices {
  private readonly limiter = new ConcurrencyLimiter(
    1,
    SLICES_QUEUED_MAX,
    'Too many exports are being sent; try again in a minute.',
  );
  private readonly exports = new KeyCounts(EXPORTS_MAX);

  constructor(private readonly pace: Pace) {}

  /**
   * The texts of an export, each made in its turn. It counts for its account until the last, or until the
   * client goes away.
   * @throws RateLimited when the account has too many
   */
  open(
    account: string,
    request: Request,
    texts: AsyncGenerator<string> | Generator<string>,
  ): AsyncGenerator<string> {
    // The runtime reads no body of a response to HEAD.
    if (request.method === 'HEAD') return this.slices(account, texts, () => {});
    if (!this.exports.add(account)) {
      throw new RateLimited(`Download at most ${EXPORTS_MAX} exports at once.`, 5);
    }
    let isOpen = true;
    const close = () => {
      if (isOpen) this.exports.remove(account);
      isOpen = false;
    };
    request.signal.addEventListener('abort', close, { once: true });
    if (request.signal.aborted) close();
    return this.slices(account, texts, close);
  }

  private async *slices(
    account: string,
    texts: AsyncGenerator<string> | Generator<string>,
    close: () => void,
  ): AsyncGenerator<string> {
    const next = () => this.pace.step(async () => texts.next());
    try {
      for (;;) {
        const { done, value } = await this.limiter.run(account, next);
        if (done) return;
        yield value;
      }
    } finally {
      close();
      await texts.return(undefined);
    }
  }
}
