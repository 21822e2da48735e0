import type { Pace, Step } from '../platform/pace.ts';
import { withinBudget } from '../storage/sql/request-budget.ts';
import { CallerLimiter, LARGE_OPERATIONS_ACTIVE_MAX } from './caller-limiter.ts';
import type { StudioCaller } from './credentials.ts';

/**
 * Studio operations that take longer the more an account has stored (SPEC L-19). They run in paced steps, one at a
 * time, with a time budget each: 20 lists of 2,000 quizzes a second took the whole thread. Accounts take turns
 * with steps: behind whole lists of 2,000 quizzes of one account each operation of another waited up to 2.2 s.
 */
export class LargeOperations {
  private readonly callers = new CallerLimiter(LARGE_OPERATIONS_ACTIVE_MAX);
  private readonly steps = new CallerLimiter();

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
    const step: Step = (work) =>
      this.steps.runInTurn(caller, () => this.pace.step(() => withinBudget(work)));
    const runNow = async () => {
      // Earlier operations may have left unread responses meanwhile.
      this.checkUnread(caller);
      return operation(step);
    };
    return this.callers.withCount(caller, () => this.callers.runInTurn(caller, runNow));
  }
}
