import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { RateLimited } from '../platform/errors.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import type { Pace } from '../platform/pace.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';

/** Most exports that a node sends to one account at once, one fewer to a member or to all its programs; more get 429. */
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
  private readonly ofAccounts = new KeyCounts(EXPORTS_MAX);
  /** Else a member who reads slowly, even a removed one, could keep the others from all exports. */
  private readonly ofMembers = new KeyCounts(EXPORTS_MAX - 1);

  constructor(private readonly pace: Pace) {}

  /**
   * The texts of an export, each made in its turn. It counts for its account and its member until the last, or
   * until the client goes away.
   * @throws RateLimited when the account or the member has too many
   */
  open(
    { user, actor }: StudioCaller,
    request: Request,
    texts: AsyncGenerator<string> | Generator<string>,
  ): AsyncGenerator<string> {
    const account = user.uuid;
    // The runtime reads no body of a response to HEAD.
    if (request.method === 'HEAD') return this.slices(account, texts);
    const member = memberUuid(actor) ?? `programs of ${account}`;
    if (!this.ofMembers.add(member)) throw tooMany(EXPORTS_MAX - 1);
    if (!this.ofAccounts.add(account)) {
      this.ofMembers.remove(member);
      throw tooMany(EXPORTS_MAX);
    }
    let isOpen = true;
    const close = () => {
      if (!isOpen) return;
      isOpen = false;
      this.ofMembers.remove(member);
      this.ofAccounts.remove(account);
    };
    request.signal.addEventListener('abort', close, { once: true });
    if (request.signal.aborted) close();
    return this.slices(account, texts, close);
  }

  /** Makes each of these texts in the turn of its account, then calls `close`. */
  async *slices(
    account: string,
    texts: AsyncGenerator<string> | Generator<string>,
    close = () => {},
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

const tooMany = (most: number) => new RateLimited(`Download at most ${most} exports at once.`, 5);
