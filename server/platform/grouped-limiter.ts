import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { ChangedMeanwhile, Unavailable } from './errors.ts';
import { runtime } from './runtime.ts';

/** Who runs a task. */
export interface TaskOwner {
  readonly group: string;
  /** A key that is unique over all groups. */
  readonly member: string;
  /** Tasks of one member take turns by it, for example by stream; '': they run in order. */
  readonly subject?: string;
}

export interface GroupedLimits {
  /** Most tasks that run at once. */
  readonly activeMax: number;
  /** Most tasks of one group that run at once. Missing: `activeMax`. */
  readonly activeOfGroupMax?: number;
  /** Most tasks that wait for the turn of their group. */
  readonly queuedMax: number;
  /** Most further tasks of a member that wait. */
  readonly queuedOfMemberMax: number;
  /** How long a task may wait; one whose turn comes later is rejected. Missing: as long as it takes. */
  readonly waitMaxMs?: number;
}

/**
 * Runs a bounded number of tasks at once. Groups take turns, and in a group its members: as many tasks of
 * a member as may run of its group wait for the turn of the group; the others wait in a queue of the member.
 */
export class GroupedLimiter {
  private readonly limiter: ConcurrencyLimiter;
  /** By member, while it has tasks. */
  private readonly memberLimiters = new Map<string, ConcurrencyLimiter>();

  /** @param fullReason why a full queue rejects a task, for its client */
  constructor(
    private readonly limits: GroupedLimits,
    private readonly fullReason: string,
  ) {
    const { activeMax, queuedMax, activeOfGroupMax } = limits;
    this.limiter = new ConcurrencyLimiter(activeMax, queuedMax, fullReason, activeOfGroupMax);
  }

  /**
   * Runs a task in turn. If it fails with `Unavailable`, those that wait fail with it: they would wait for the
   * same deadline, one after the other (SPEC R-15). `ChangedMeanwhile` concerns only this one.
   * @throws Unavailable when too many wait, or this one for too long
   */
  async run<T>({ group, member, subject = '' }: TaskOwner, work: () => Promise<T>): Promise<T> {
    const ofMember = this.memberLimiters.get(member) ?? this.newMemberLimiter();
    this.memberLimiters.set(member, ofMember);
    const sinceMs = runtime.monotonicMs();
    const inTime = () => {
      const waitedMs = runtime.monotonicMs() - sinceMs;
      if (waitedMs > (this.limits.waitMaxMs ?? Infinity)) throw new Unavailable(this.fullReason);
      return this.runNow(work);
    };
    try {
      return await ofMember.run(subject, () => this.limiter.run(group, async () => inTime()));
    } finally {
      const isCurrent = this.memberLimiters.get(member) === ofMember;
      if (isCurrent && ofMember.isIdle) this.memberLimiters.delete(member);
    }
  }

  private newMemberLimiter(): ConcurrencyLimiter {
    const { activeMax, activeOfGroupMax = activeMax, queuedOfMemberMax } = this.limits;
    return new ConcurrencyLimiter(activeOfGroupMax, queuedOfMemberMax, this.fullReason);
  }

  private async runNow<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Unavailable && !(error instanceof ChangedMeanwhile)) {
        for (const limiter of [this.limiter, ...this.memberLimiters.values()]) {
          limiter.rejectQueued(error);
        }
      }
      throw error;
    }
  }
}
