import { Unavailable } from '../../platform/errors.ts';

/** Lets so much work go on at once; a bounded number waits, and more is refused. */
export class ConcurrencyLimiter {
  private working = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnceMax: number,
    private readonly waitingMax: number,
  ) {}

  /** Does the work when its turn comes. @throws Unavailable when too many wait */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.working < this.atOnceMax) this.working++;
    else await this.turn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // Who comes next takes this one's place.
      if (next) next();
      else this.working--;
    }
  }

  private turn(): Promise<void> {
    if (this.waiting.length >= this.waitingMax) {
      throw new Unavailable('Too many passwords are being checked.');
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
