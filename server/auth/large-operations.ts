import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { RateLimited, Unavailable } from '../platform/errors.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import type { Pace, Step } from '../platform/pace.ts';
import { withinBudget } from '../storage/sql/request-budget.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';
import type { LargeResponses } from './large-responses.ts';

/** Most of one account that run or wait for its turn, one of each member among them; more get 429. */
export const LARGE_OPERATIONS_MAX = 64;
/** Most that wait on a node; more get 503, those of the account with the most first. */
export const LARGE_OPERATIONS_QUEUED_MAX = 1_024;

/**
 * Studio operations that take longer the more an account has stored (SPEC L-19). One runs at a time, in
 * paced steps with a time budget each, and accounts take turns: 20 lists of 2,000 quizzes a second
 * took the whole thread.
 */
export class LargeOperations {
  private readonly limiter = new ConcurrencyLimiter(
    1,
    LARGE_OPERATIONS_QUEUED_MAX,
    'Too many large requests wait; try again in a second.',
  );
  private readonly accountCounts = new KeyCounts(LARGE_OPERATIONS_MAX);
  private readonly memberCounts = new KeyCounts(LARGE_OPERATIONS_MAX / 2);
  /** By member, while it has operations. */
  private readonly memberQueues = new Map<string, ConcurrencyLimiter>();

  constructor(
    private readonly pace: Pace,
    private readonly responses: Pick<LargeResponses, 'check'>,
  ) {}

  /**
   * Runs an operation when it is the turn of its account.
   * @throws RateLimited when the account or the member has too many, or the caller has too much unread (L-17)
   * @throws Unavailable when too many wait on the node
   */
  async run<T>(caller: StudioCaller, operation: (step: Step) => Promise<T>): Promise<T> {
    const member = memberUuid(caller.actor);
    const runForAccount = () =>
      runCounted(this.accountCounts, caller.user.uuid, () =>
        this.limiter.run(caller.user.uuid, () => {
          // Earlier operations may have left unread responses meanwhile.
          this.responses.check(caller);
          return this.runNow(operation);
        }),
      );
    return member === null
      ? runForAccount()
      : runCounted(this.memberCounts, member, () => this.runInMemberQueue(member, runForAccount));
  }

  /**
   * Of each member only one operation waits for the turn of the account: behind 32 operations of a moderator an
   * owner waited 6.6 s.
   */
  private async runInMemberQueue<T>(member: string, run: () => Promise<T>): Promise<T> {
    const queue = this.memberQueues.get(member) ?? newMemberQueue();
    this.memberQueues.set(member, queue);
    try {
      return await queue.run(member, run);
    } finally {
      if (queue.isIdle) this.memberQueues.delete(member);
    }
  }

  private async runNow<T>(operation: (step: Step) => Promise<T>): Promise<T> {
    try {
      return await operation((work) => this.pace.step(() => withinBudget(work)));
    } catch (error) {
      // The others would wait for the same deadline, one after the other.
      if (error instanceof Unavailable) {
        for (const queue of [this.limiter, ...this.memberQueues.values()])
          queue.rejectQueued(error);
      }
      throw error;
    }
  }
}

const newMemberQueue = () =>
  new ConcurrencyLimiter(1, LARGE_OPERATIONS_MAX / 2, 'Too many large requests wait.');

async function runCounted<T>(counts: KeyCounts, key: string, run: () => Promise<T>): Promise<T> {
  if (!counts.add(key)) {
    throw new RateLimited('Too many large requests at once; try again in 5 s.', 5);
  }
  try {
    return await run();
  } finally {
    counts.remove(key);
  }
}
