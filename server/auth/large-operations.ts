import type { Pace, Step } from '../platform/pace.ts';
import { withinBudget } from '../storage/sql/request-budget.ts';
import { CallerLimiter } from './caller-limiter.ts';
import type { StudioCaller } from './credentials.ts';

/**
 * Studio operations that take longer the more an account has stored (SPEC L-19). One runs at a time, in
 * paced steps with a time budget each: 20 lists of 2,000 quizzes a second took the whole thread.
 */
export class LargeOperations {
  private readonly callers = new CallerLimiter();

  constructor(
    private readonly pace: Pace,
    /** Checks what the caller, and others, have unread. @throws RateLimited */
    private readonly checkUnread: (caller: StudioCaller) => void,
  ) {}

  /**
   * Runs an operation when it is the turn of its caller.
   * @throws RateLimited when the account or the member has too many, or too much is unread (L-17)
   * @throws Unavailable when too many wait on the node
   */
  run<T>(caller: StudioCaller, operation: (step: Step) => Promise<T>): Promise<T> {
    const runNow = async () => {
      // Earlier operations may have left unread responses meanwhile.
      this.checkUnread(caller);
      return operation((work) => this.pace.step(() => withinBudget(work)));
    };
    return this.callers.withCount(caller, () => this.callers.runInTurn(caller, runNow));
  }
}
