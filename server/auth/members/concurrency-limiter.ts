import { Unavailable } from '../../platform/errors.ts';

/** Lets so much work go on at once; a bounded number waits, and more is refused. */
export class ConcurrencyLimiter {
  private active = 0;
  private readonly queue: (() => void)[] = [];

  constructor(
    private readonly activeMax: number,
    private readonly queuedMax: number,
  ) {}

  /** Does the work when its turn comes. @throws Unavailable when too many wait */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.active < this.activeMax) this.active++;
    else await this.waitForSlot();
    try {
      return await work();
    } finally {
      const next = this.queue.shift();
      // Who comes next takes this one's place.
      if (next) next();
      else this.active--;
    }
  }

  private waitForSlot(): Promise<void> {
    if (this.queue.length >= this.queuedMax) {
      throw new Unavailable('Too many passwords are being checked.');
    }
    return new Promise((resolve) => this.queue.push(resolve));
  }
}
