// Nodes live in real time here, so a machine that is short of it is no fault of theirs.

/** What somebody saw, and how long that took. */
export interface Seen<T> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly what: T;
}

export function seenNow<T>(what: T): Seen<T> {
  const nowMs = performance.now();
  return { fromMs: nowMs, toMs: nowMs, what };
}

export async function seenBy<T>(look: () => Promise<T>): Promise<Seen<T>> {
  const fromMs = performance.now();
  const what = await look();
  return { fromMs, toMs: performance.now(), what };
}

const ASKED_EVERY_MS = 50;
/** Timers and backends are later than this only when others have the cores. */
const LATE_MS = 150;
/** A heartbeat that was late is missed by counts for up to so long after it. */
const AFTERWARDS_MS = 1_250;

/** Finds out when this process or its backends stood still: it asks them several times a second. */
export class SteadyMachine {
  private readonly stood: { fromMs: number; toMs: number }[] = [];
  private round: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(private readonly ask: () => Promise<unknown>) {
    void this.watch();
  }

  stop(): void {
    this.isStopped = true;
  }

  /** Resolves when it is known how the machine ran until now. */
  async asked(): Promise<void> {
    await this.round;
  }

  /** What was seen while the machine ran steadily, and had done so for a while. */
  steadily<T>(all: readonly Seen<T>[]): T[] {
    return all.filter((one) => this.wasSteady(one)).map(({ what }) => what);
  }

  private wasSteady({ fromMs, toMs }: Seen<unknown>): boolean {
    return this.stood.every((stall) => toMs < stall.fromMs || fromMs > stall.toMs + AFTERWARDS_MS);
  }

  private async watch(): Promise<void> {
    while (!this.isStopped) {
      this.round = this.once();
      await this.round;
    }
  }

  private async once(): Promise<void> {
    const fromMs = performance.now();
    // Who is told no at once was told in time: that excuses nobody.
    const isAnswered = this.ask().catch(() => {});
    await Bun.sleep(ASKED_EVERY_MS);
    await isAnswered;
    const toMs = performance.now();
    if (toMs - fromMs > ASKED_EVERY_MS + LATE_MS) this.stood.push({ fromMs, toMs });
  }
}
