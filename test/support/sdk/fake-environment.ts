import type { Environment } from '../../../sdk/environment.ts';

interface Timer {
  /** On the monotonic clock, as in browsers and Node. */
  readonly dueMs: number;
  readonly run: () => void;
}

export interface FakeMachineOptions {
  /** True time at the start, Unix ms. */
  readonly startMs?: number;
  /** Default: every request fails. */
  readonly fetch?: Environment['fetch'];
  /** Default: always 0.5. */
  readonly random?: () => number;
  /** Whether there is a page, which can be hidden. */
  readonly hasPage?: boolean;
  readonly canStream?: boolean;
}

const START_MS = 1_760_000_000_000;
const ROUNDING_MS = 1e-6;
// Real timers fire at once when they are set for longer.
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A machine with manual time, for tests. */
export class FakeMachine {
  readonly environment: Environment;
  /** Error of the system clock: ms ahead of true time. Assign it to set that clock. */
  systemErrorMs = 0;
  /** Rate of the monotonic clock and of timers, ms per true ms. */
  clockRate = 1;
  // Separate from the start: Unix ms leave too few digits for fractions.
  private elapsedMs = 0;
  private monotonicMs = 1_000;
  private isHidden = false;
  /** Whether timers of the hidden page run once a second, as in browsers. */
  throttlesHiddenPage = false;
  private readonly timers = new Set<Timer>();
  private readonly listeners = new Set<() => void>();
  private readonly startMs: number;

  constructor({
    startMs = START_MS,
    fetch = () => Promise.reject(new TypeError('There is no network.')),
    random = () => 0.5,
    hasPage = false,
    canStream = true,
  }: FakeMachineOptions = {}) {
    this.startMs = startMs;
    this.environment = {
      fetch,
      random,
      canStream,
      systemMs: () => this.nowMs + this.systemErrorMs,
      monotonicMs: () => this.monotonicMs,
      after: (ms, run) => {
        const inMs = ms > TIMER_MAX_MS ? 0 : Math.max(0, ms);
        const timer = { dueMs: this.timerDueMs(inMs), run };
        this.timers.add(timer);
        return () => this.timers.delete(timer);
      },
      visibility: hasPage
        ? {
            isHidden: () => this.isHidden,
            onChange: (listener) => {
              this.listeners.add(listener);
              return () => this.listeners.delete(listener);
            },
          }
        : null,
    };
  }

  /** True time, Unix ms. */
  get nowMs(): number {
    return this.startMs + this.elapsedMs;
  }

  /** Number of pending timers, for leak tests. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  /** Resolves when this time has been advanced. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.environment.after(ms, resolve));
  }

  /** Advances true time. Due timers run in order; promises settle after each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.elapsedMs + ms;
    await this.settle();
    for (let timer = this.nextTimer(); timer; timer = this.nextTimer()) {
      const inMs = Math.max(0, timer.dueMs - this.monotonicMs) / this.clockRate;
      if (this.elapsedMs + inMs > endMs + ROUNDING_MS) break;
      this.passTime(inMs);
      this.timers.delete(timer);
      timer.run();
      await this.settle();
    }
    this.passTime(Math.max(0, endMs - this.elapsedMs));
  }

  /**
   * Advances true time without running timers; overdue ones run afterwards.
   * @param doesMonotonicRun whether the monotonic clock and timers count the sleep, as on Windows
   */
  async sleep(ms: number, doesMonotonicRun = false): Promise<void> {
    this.elapsedMs += ms;
    if (doesMonotonicRun) this.monotonicMs += ms * this.clockRate;
    await this.advance(0);
  }

  /** Hides or shows the page. */
  async setHidden(isHidden: boolean): Promise<void> {
    this.isHidden = isHidden;
    for (const listener of [...this.listeners]) listener();
    await this.settle();
  }

  /** Lets promises settle without advancing time. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  private timerDueMs(inMs: number): number {
    const dueMs = this.monotonicMs + inMs;
    return this.isHidden && this.throttlesHiddenPage ? Math.ceil(dueMs / 1_000) * 1_000 : dueMs;
  }

  /** @returns the timer that is due first; of several, the one that was set first */
  private nextTimer(): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.timers) if (!first || timer.dueMs < first.dueMs) first = timer;
    return first;
  }

  private passTime(ms: number): void {
    this.elapsedMs += ms;
    this.monotonicMs += ms * this.clockRate;
  }
}
