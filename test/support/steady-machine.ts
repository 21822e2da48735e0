// For tests that run nodes in real time: stalls of the test machine must not count as failures.

/** A value, and when it was observed (`performance.now()`). */
export interface Observation<T> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value: T;
}

export function observeNow<T>(value: T): Observation<T> {
  const nowMs = performance.now();
  return { fromMs: nowMs, toMs: nowMs, value };
}

export async function observe<T>(look: () => Promise<T>): Promise<Observation<T>> {
  const fromMs = performance.now();
  const value = await look();
  return { fromMs, toMs: performance.now(), value };
}

const PROBE_MS = 50;
/** Timers and backends are later than this only when the machine is overloaded. */
const LATE_MS = 150;
/** A late heartbeat is missing in counts for up to this time. */
const RECOVERY_MS = 1_250;

/** Detects stalls of this process or its backends, by a call every 50 ms. */
export class SteadyMachine {
  private readonly stalls: { fromMs: number; toMs: number }[] = [];
  private round: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(private readonly call: () => Promise<unknown>) {
    void this.watch();
  }

  stop(): void {
    this.isStopped = true;
  }

  /** Resolves when the stalls until now are known. */
  async settled(): Promise<void> {
    await this.round;
  }

  /** The values that were observed while the machine had no stall, and none shortly before. */
  filterSteady<T>(all: readonly Observation<T>[]): T[] {
    return all.filter((observation) => this.isSteady(observation)).map(({ value }) => value);
  }

  private isSteady({ fromMs, toMs }: Observation<unknown>): boolean {
    return this.stalls.every((stall) => toMs < stall.fromMs || fromMs > stall.toMs + RECOVERY_MS);
  }

  private async watch(): Promise<void> {
    while (!this.isStopped) {
      this.round = this.probe();
      await this.round;
    }
  }

  private async probe(): Promise<void> {
    const fromMs = performance.now();
    // A call that fails in time is no stall.
    const called = this.call().catch(() => {});
    await Bun.sleep(PROBE_MS);
    await called;
    const toMs = performance.now();
    if (toMs - fromMs > PROBE_MS + LATE_MS) this.stalls.push({ fromMs, toMs });
  }
}
