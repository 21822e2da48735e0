import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { Unavailable } from './errors.ts';

/** Whose task it is. */
export interface TaskOwner {
  readonly group: string;
  /** A key that is unique over all groups. */
  readonly member: string;
  /** What the task is about. */
  readonly subject: string;
}

/**
 * Runs a bounded number of tasks at once. Groups take turns, in a group its members, and for a member its
 * subjects: of each member only as many tasks as may run at once wait for the turn of its group.
 */
export class TurnLimiter {
  private readonly limiter: ConcurrencyLimiter;
  /** By member, while it has tasks. */
  private readonly memberLimiters = new Map<string, ConcurrencyLimiter>();
  private readonly newLimiter: () => ConcurrencyLimiter;

  /**
   * @param queuedMax most tasks of a member that wait, and most tasks that wait for the turn of their group
   * @param fullReason why a full queue rejects a task, for its client
   */
  constructor(activeMax: number, queuedMax: number, fullReason: string) {
    this.newLimiter = () => new ConcurrencyLimiter(activeMax, queuedMax, fullReason);
    this.limiter = this.newLimiter();
  }

  /**
   * Runs a task in turn. If it fails with `Unavailable`, those that wait fail with it: they would wait for the
   * same deadline, one after the other (SPEC R-15).
   * @throws Unavailable when too many wait
   */
  async run<T>({ group, member, subject }: TaskOwner, work: () => Promise<T>): Promise<T> {
    const ofMember = this.memberLimiters.get(member) ?? this.newLimiter();
    this.memberLimiters.set(member, ofMember);
    try {
      return await ofMember.run(subject, () => this.limiter.run(group, () => this.runNow(work)));
    } finally {
      const isCurrent = this.memberLimiters.get(member) === ofMember;
      if (isCurrent && ofMember.isIdle) this.memberLimiters.delete(member);
    }
  }

  private async runNow<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Unavailable) {
        for (const limiter of [this.limiter, ...this.memberLimiters.values()]) {
          limiter.rejectQueued(error);
        }
      }
      throw error;
    }
  }
}
