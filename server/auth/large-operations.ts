import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { RateLimited, Unavailable } from '../platform/errors.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import type { Pace, Step } from '../platform/pace.ts';
import { withinBudget } from '../storage/sql/request-budget.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';
import type { LargeResponses } from './large-responses.ts';

/** Most large operations of one account that run or wait at once; more get 429. */
export const LARGE_OPERATIONS_MAX = 128;
/** Most large operations of the programs of an account, which use its API tokens. */
export const LARGE_OPERATIONS_OF_PROGRAMS_MAX = 64;
/** Most large operations of one member. */
export const LARGE_OPERATIONS_OF_MEMBER_MAX = 32;
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
  private readonly programCounts = new KeyCounts(LARGE_OPERATIONS_OF_PROGRAMS_MAX);
  private readonly memberCounts = new KeyCounts(LARGE_OPERATIONS_OF_MEMBER_MAX);
  /** By member, or account for its programs, while it has operations. */
  private readonly callerQueues = new Map<string, ConcurrencyLimiter>();

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
    const account = caller.user.uuid;
    const member = memberUuid(caller.actor);
    const counts = member === null ? this.programCounts : this.memberCounts;
    const key = member ?? account;
    return runCounted(this.accountCounts, account, () =>
      runCounted(counts, key, () =>
        this.runInCallerQueue(key, () =>
          this.limiter.run(account, () => {
            // Earlier operations may have left unread responses meanwhile.
            this.responses.check(caller);
            return this.runNow(operation);
          }),
        ),
      ),
    );
  }

  /**
   * Of each member, and of all programs together, only one operation waits for the turn of the account: behind 32
   * operations of a moderator an owner waited 6.6 s.
   */
  private async runInCallerQueue<T>(key: string, run: () => Promise<T>): Promise<T> {
    const queue = this.callerQueues.get(key) ?? newCallerQueue();
    this.callerQueues.set(key, queue);
    try {
      return await queue.run(key, run);
    } finally {
      if (queue.isIdle) this.callerQueues.delete(key);
    }
  }

  private async runNow<T>(operation: (step: Step) => Promise<T>): Promise<T> {
    try {
      return await operation((work) => this.pace.step(() => withinBudget(work)));
    } catch (error) {
      // The others would wait for the same deadline, one after the other.
      if (error instanceof Unavailable) {
        for (const queue of [this.limiter, ...this.callerQueues.values()])
          queue.rejectQueued(error);
      }
      throw error;
    }
  }
}

const newCallerQueue = () =>
  new ConcurrencyLimiter(1, LARGE_OPERATIONS_MAX, 'Too many large requests wait.');

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
