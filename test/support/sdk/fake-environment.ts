import type { Environment } from '../../../sdk/environment.ts';

interface Timer {
  /** On the monotonic clock, as those of browsers and Node are. */
  readonly dueMs: number;
  readonly run: () => void;
}

export interface FakeMachineOptions {
  /** The true time at the start, Unix ms. */
  readonly startMs?: number;
  /** By default there is no network. */
  readonly fetch?: Environment['fetch'];
  /** 0.5 by default. */
  readonly random?: () => number;
  /** Whether there is a page that can be hidden. */
  readonly hasPage?: boolean;
  readonly canStream?: boolean;
}

const START_MS = 1_760_000_000_000;
const ROUNDING_MS = 1e-6;
// Real ones run at once when they are set further ahead.
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A machine for tests, whose time passes when it is told to. */
export class FakeMachine {
  readonly environment: Environment;
  /** How far the system clock is ahead of the true time; setting it sets that clock. */
  systemErrorMs = 0;
  /** Ms of the monotonic clock, and of timers, in a true ms. */
  pace = 1;
  // Apart from the start: next to Unix ms a number has no room for fractions.
  private elapsedMs = 0;
  private monotonicMs = 1_000;
  private isHidden = false;
  private readonly timers = new Set<Timer>();
  private readonly listeners = new Set<() => void>();

  private readonly startMs: number;

  constructor({
    startMs = START_MS,
    fetch = () => Promise.reject(new TypeError('there is no network')),
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
        const timer = { dueMs: this.monotonicMs + inMs, run };
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

  /** The true time, Unix ms. */
  get nowMs(): number {
    return this.startMs + this.elapsedMs;
  }

  /** How many timers wait, for tests that nothing is left behind. */
  get waiting(): number {
    return this.timers.size;
  }

  /** Lets so many true ms pass: timers run in order, and what they began settles in between. */
  async advance(ms: number): Promise<void> {
    const endMs = this.elapsedMs + ms;
    await this.settle();
    for (let timer = this.next(); timer; timer = this.next()) {
      const inMs = Math.max(0, timer.dueMs - this.monotonicMs) / this.pace;
      if (this.elapsedMs + inMs > endMs + ROUNDING_MS) break;
      this.pass(inMs);
      this.timers.delete(timer);
      timer.run();
      await this.settle();
    }
    this.pass(Math.max(0, endMs - this.elapsedMs));
  }

  /**
   * Time passes and nothing runs; after it, what is overdue runs late.
   * @param doesMonotonicRun as on Windows; elsewhere that clock, and timers, stand still
   */
  async sleep(ms: number, doesMonotonicRun = false): Promise<void> {
    this.elapsedMs += ms;
    if (doesMonotonicRun) this.monotonicMs += ms * this.pace;
    await this.advance(0);
  }

  /** Somebody looks at the page, or at another one. */
  async setHidden(isHidden: boolean): Promise<void> {
    this.isHidden = isHidden;
    for (const listener of [...this.listeners]) listener();
    await this.settle();
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Of timers that are due at once, the one that was set first. */
  private next(): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.timers) if (!first || timer.dueMs < first.dueMs) first = timer;
    return first;
  }

  private pass(ms: number): void {
    this.elapsedMs += ms;
    this.monotonicMs += ms * this.pace;
  }
}
