import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { RateLimited } from '../platform/errors.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import type { Pace } from '../platform/pace.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';

/** Most exports of one account at once on a node; a member, and all programs together, have one fewer. */
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
  private readonly accountCounts = new KeyCounts(EXPORTS_MAX);
  /** One fewer: a member who reads slowly, even a removed one, must leave an export to the others. */
  private readonly memberCounts = new KeyCounts(EXPORTS_MAX - 1);

  constructor(private readonly pace: Pace) {}

  /**
   * The texts of an export, each made in the turn of its account. The export counts for its account and member
   * until it ends or the client disconnects.
   * @throws RateLimited when the account or the member has too many
   */
  open(
    { user, actor }: StudioCaller,
    request: Request,
    texts: AsyncGenerator<string> | Generator<string>,
  ): AsyncGenerator<string> {
    const account = user.uuid;
    // The runtime reads no body of a response to HEAD.
    if (request.method === 'HEAD') return this.slices(account, request.signal, texts, () => {});
    const member = memberUuid(actor) ?? `programs of ${account}`;
    if (!this.memberCounts.add(member)) throw tooMany('You have', EXPORTS_MAX - 1);
    if (!this.accountCounts.add(account)) {
      this.memberCounts.remove(member);
      throw tooMany('Your account has', EXPORTS_MAX);
    }
    let isOpen = true;
    const close = () => {
      if (!isOpen) return;
      isOpen = false;
      this.memberCounts.remove(member);
      this.accountCounts.remove(account);
    };
    request.signal.addEventListener('abort', close, { once: true });
    if (request.signal.aborted) close();
    return this.slices(account, request.signal, texts, close);
  }

  private async *slices(
    account: string,
    signal: AbortSignal,
    texts: AsyncGenerator<string> | Generator<string>,
    close: () => void,
  ): AsyncGenerator<string> {
    // The client may have disconnected while the slice waited for its turn.
    const next = () => this.pace.step(async () => (signal.aborted ? null : texts.next()));
    try {
      for (;;) {
        const result = await this.limiter.run(account, next);
        if (result === null || result.done) return;
        // A page may have no text, and each page has its turn.
        if (result.value !== '') yield result.value;
      }
    } finally {
      close();
      await texts.return(undefined);
    }
  }
}

const tooMany = (whoHas: string, most: number) =>
  new RateLimited(`${whoHas} ${most} exports in progress; try again when one has ended.`, 5);
