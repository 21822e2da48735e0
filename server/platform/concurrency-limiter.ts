import { Unavailable } from './errors.ts';
import { GroupQueue } from './group-queue.ts';
import { KeyCounts } from './key-counts.ts';

/** A task that waits for a slot. */
interface Waiter {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs a bounded number of tasks at once. A bounded number waits; more are rejected, those of the group
 * with the most first. Groups take turns, and the tasks of one group run in order.
 */
export class ConcurrencyLimiter {
  private active = 0;
  private queuedCount = 0;
  private readonly queue = new GroupQueue<Waiter>();
  private readonly groupCounts: KeyCounts;

  constructor(
    private readonly activeMax: number,
    private readonly queuedMax: number,
    /** Why a full queue rejects a task, for its client. */
    private readonly fullReason: string,
    /** Most tasks of one group that run at once. */
    activeOfGroupMax = activeMax,
  ) {
    this.groupCounts = new KeyCounts(activeOfGroupMax);
  }

  /**
   * Runs a task when a slot is free.
   * @param group whose task it is
   * @throws Unavailable when the queue is full
   */
  async run<T>(group: string, work: () => Promise<T>): Promise<T> {
    // While a slot is free, only tasks wait whose group has its most.
    if (this.active < this.activeMax && this.groupCounts.add(group)) this.active++;
    else await this.waitForSlot(group);
    try {
      return await work();
    } finally {
      this.groupCounts.remove(group);
      const next = this.queue.shift((name) => this.groupCounts.add(name));
      // The next task takes over the slot, so `active` stays.
      if (next) {
        this.queuedCount--;
        next.start();
      } else this.active--;
    }
  }

  /** Whether no task runs or waits. */
  get isIdle(): boolean {
    return this.active === 0;
  }

  /** Rejects all waiting tasks. */
  rejectQueued(error: Unavailable): void {
    this.queuedCount = 0;
    for (const { reject } of this.queue.clear()) reject(error);
  }

  private waitForSlot(group: string): Promise<void> {
    if (this.queuedCount >= this.queuedMax) this.makeRoom(group);
    return new Promise((start, reject) => {
      this.queue.push(group, { start, reject });
      this.queuedCount++;
    });
  }

  /** Rejects the newest task of the group with the most. @throws Unavailable if that is the new task */
  private makeRoom(group: string): void {
    const error = new Unavailable(this.fullReason);
    const largest = this.queue.largestGroup();
    if (largest === undefined) throw error;
    if (this.queue.lengthOf(largest) <= this.queue.lengthOf(group) + 1) throw error;
    this.queue.popOf(largest)?.reject(error);
    this.queuedCount--;
  }
}
