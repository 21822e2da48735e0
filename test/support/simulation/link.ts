import type { Scheduler } from '../scheduler.ts';

export interface LinkOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  /** One-way delay, ms: from this … */
  readonly minDelayMs: number;
  /** … to this. */
  readonly maxDelayMs: number;
}

/**
 * The network between a node and a server, as TCP shows it: messages arrive in order or not at all.
 * While it is silent they wait for its repair.
 */
export class Link {
  private silent: 'none' | 'replies' | 'both' = 'none';
  private waiting: (() => void)[] = [];
  /** Further delay of each message, ms. */
  slownessMs = 0;

  constructor(private readonly options: LinkOptions) {}

  /** Opens one direction of a connection: messages keep their order. */
  channel(direction: 'requests' | 'replies'): (deliver: () => void) => void {
    let lastMs = 0;
    return (deliver) => {
      const { scheduler } = this.options;
      const arrivesMs = Math.max(lastMs, scheduler.nowMs + this.delayMs());
      lastMs = arrivesMs;
      scheduler.after(arrivesMs - scheduler.nowMs, () => {
        if (this.isSilent(direction)) this.waiting.push(deliver);
        else deliver();
      });
    };
  }

  /** From now on no message arrives, or no reply. */
  silence(directions: 'replies' | 'both'): void {
    this.silent = directions;
  }

  repair(): void {
    this.silent = 'none';
    const { waiting } = this;
    this.waiting = [];
    for (const deliver of waiting) this.options.scheduler.after(0, deliver);
  }

  private isSilent(direction: 'requests' | 'replies'): boolean {
    return this.silent === 'both' || this.silent === direction;
  }

  private delayMs(): number {
    const { random, minDelayMs, maxDelayMs } = this.options;
    // Mostly near the minimum, as real delays are.
    const delayMs = minDelayMs + (maxDelayMs - minDelayMs) * random() ** 3;
    return this.slownessMs > 0 ? delayMs + random() * this.slownessMs : delayMs;
  }
}
