import { Unavailable } from './errors.ts';

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
  /** By group, in the order of their turns. No queue is empty. */
  private readonly queues = new Map<string, Waiter[]>();

  constructor(
    private readonly activeMax: number,
    private readonly queuedMax: number,
    /** Why a full queue rejects a task, for its client. */
    private readonly fullReason: string,
  ) {}

  /**
   * Runs a task when a slot is free.
   * @param group whose task it is
   * @throws Unavailable when the queue is full
   */
  async run<T>(group: string, work: () => Promise<T>): Promise<T> {
    if (this.active < this.activeMax) this.active++;
    else await this.waitForSlot(group);
    try {
      return await work();
    } finally {
      const next = this.takeNext();
      // The next task takes over the slot, so `active` stays.
      if (next) next.start();
      else this.active--;
    }
  }

  /** Whether no task runs or waits. */
  get isIdle(): boolean {
    return this.active === 0;
  }

  /** Rejects all waiting tasks. */
  rejectQueued(error: Unavailable): void {
    const waiters = [...this.queues.values()].flat();
    this.queues.clear();
    this.queuedCount = 0;
    for (const { reject } of waiters) reject(error);
  }

  private waitForSlot(group: string): Promise<void> {
    if (this.queuedCount >= this.queuedMax) this.makeRoom(group);
    return new Promise((start, reject) => {
      const queue = this.queues.get(group) ?? [];
      this.queues.set(group, queue);
      queue.push({ start, reject });
      this.queuedCount++;
    });
  }

  /** Rejects the newest task of the group with the most. @throws Unavailable if that is the new task */
  private makeRoom(group: string): void {
    const error = new Unavailable(this.fullReason);
    const largest = [...this.queues.values()].reduce((a, b) => (b.length > a.length ? b : a));
    if (largest.length <= (this.queues.get(group)?.length ?? 0) + 1) throw error;
    largest.pop()?.reject(error);
    this.queuedCount--;
  }

  private takeNext(): Waiter | undefined {
    const [turn] = this.queues;
    if (!turn) return undefined;
    const [group, queue] = turn;
    const next = queue.shift();
    this.queues.delete(group);
    if (queue.length > 0) this.queues.set(group, queue);
    this.queuedCount--;
    return next;
  }
}
