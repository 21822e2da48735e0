import { Unavailable } from '../../platform/errors.ts';

/** Runs a bounded number of tasks at once. A bounded number waits in order; more are rejected. */
export class ConcurrencyLimiter {
  private active = 0;
  private readonly queue: (() => void)[] = [];

  constructor(
    private readonly activeMax: number,
    private readonly queuedMax: number,
  ) {}

  /** Runs a task when a slot is free. @throws Unavailable when the queue is full */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.active < this.activeMax) this.active++;
    else await this.waitForSlot();
    try {
      return await work();
    } finally {
      const next = this.queue.shift();
      // The next task takes over the slot, so `active` stays.
      if (next) next();
      else this.active--;
    }
  }

  private waitForSlot(): Promise<void> {
    if (this.queue.length >= this.queuedMax) {
      throw new Unavailable('Too many passwords are being checked at once.');
    }
    return new Promise((resolve) => this.queue.push(resolve));
  }
}
