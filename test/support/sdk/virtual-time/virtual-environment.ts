import type { Environment } from '../../../../sdk/environment.ts';
import type { Scheduler } from '../../scheduler.ts';

/** A period of true time, Unix ms. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Timer {
  /** On the monotonic clock. */
  readonly dueMs: number;
  readonly run: () => void;
  cancel: () => void;
}

export interface VirtualMachineOptions {
  readonly fetch: Environment['fetch'];
  readonly random: () => number;
  /** Rate of its monotonic clock, ms per true ms. */
  readonly clockRate: number;
  /** Error of its system clock: ms ahead of true time. */
  readonly systemErrorMs: number;
  readonly canStream: boolean;
  /** Maximum delay of its timers, ms. */
  readonly timerDelayMs: number;
}

/** A machine in virtual time, with inaccurate clocks, that can sleep. */
export class VirtualMachine {
  readonly environment: Environment;
  /** When its system clock was last set. */
  lastSetMs = Number.NEGATIVE_INFINITY;
  readonly sleeps: Period[] = [];
  #systemErrorMs: number;
  readonly #timers = new Set<Timer>();
  readonly #visibilityListeners = new Set<() => void>();
  /** Callbacks that arrived during a sleep. */
  readonly #pendingReceives: (() => void)[] = [];
  #isAsleep = false;
  #isHidden = false;
  /** Reading of the monotonic clock at `#sinceMs`. */
  #monotonicMs = 5_000;
  #sinceMs: number;

  constructor(
    readonly scheduler: Scheduler,
    readonly options: VirtualMachineOptions,
  ) {
    this.#systemErrorMs = options.systemErrorMs;
    this.#sinceMs = scheduler.nowMs;
    this.environment = {
      fetch: options.fetch,
      random: options.random,
      canStream: options.canStream,
      systemMs: () => Math.floor(scheduler.nowMs + this.#systemErrorMs),
      monotonicMs: () => this.#monotonic(),
      after: (ms, run) => this.#after(ms, run),
      visibility: {
        isHidden: () => this.#isHidden,
        onChange: (listener) => {
          this.#visibilityListeners.add(listener);
          return () => this.#visibilityListeners.delete(listener);
        },
      },
    };
  }

  get isAsleep(): boolean {
    return this.#isAsleep;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  get visibilityListeners(): number {
    return this.#visibilityListeners.size;
  }

  /** Runs a callback of the network; after the sleep when the machine sleeps. */
  receive(run: () => void): void {
    if (this.#isAsleep || this.#pendingReceives.length > 0) this.#pendingReceives.push(run);
    else run();
  }

  /**
   * Puts the machine to sleep for this time.
   * @param doesMonotonicRun whether the monotonic clock counts the sleep, which differs by system
   */
  sleep(ms: number, doesMonotonicRun: boolean): void {
    if (this.#isAsleep) return;
    this.#monotonicMs = this.#monotonic();
    this.#sinceMs = this.scheduler.nowMs;
    this.#isAsleep = true;
    this.sleeps.push({ fromMs: this.#sinceMs, toMs: this.#sinceMs + ms });
    for (const timer of this.#timers) timer.cancel();
    this.scheduler.after(ms, () => {
      if (!doesMonotonicRun) this.#sinceMs = this.scheduler.nowMs;
      this.#wake();
    });
  }

  /** Sets the system clock by a difference. */
  stepSystemClock(ms: number): void {
    this.#systemErrorMs += ms;
    this.lastSetMs = this.scheduler.nowMs;
  }

  setHidden(isHidden: boolean): void {
    this.receive(() => {
      this.#isHidden = isHidden;
      for (const listener of [...this.#visibilityListeners]) listener();
    });
  }

  #wake(): void {
    this.#isAsleep = false;
    // Systems differ in what runs first: network callbacks or overdue timers.
    const isTimersFirst = this.options.random() < 0.5;
    if (!isTimersFirst) this.#deliverPending();
    const overdueFirst = [...this.#timers].sort((a, b) => a.dueMs - b.dueMs);
    for (const timer of overdueFirst) this.#schedule(timer);
    if (isTimersFirst) this.#deliverPending();
  }

  /** Runs pending callbacks one by one, in order. */
  #deliverPending(): void {
    this.scheduler.after(0, () => {
      if (this.#isAsleep) return;
      this.#pendingReceives.shift()?.();
      if (this.#pendingReceives.length > 0) this.#deliverPending();
    });
  }

  #monotonic(): number {
    if (this.#isAsleep) return this.#monotonicMs;
    return this.#monotonicMs + (this.scheduler.nowMs - this.#sinceMs) * this.options.clockRate;
  }

  #after(ms: number, run: () => void): () => void {
    const dueMs = this.#monotonic() + Math.max(ms, 0);
    const timer: Timer = { dueMs, run, cancel: () => {} };
    this.#timers.add(timer);
    if (!this.#isAsleep) this.#schedule(timer);
    return () => {
      timer.cancel();
      this.#timers.delete(timer);
    };
  }

  #schedule(timer: Timer): void {
    const { clockRate, timerDelayMs, random } = this.options;
    const inMs = Math.max(0, timer.dueMs - this.#monotonic()) / clockRate;
    timer.cancel = this.scheduler.after(inMs + (timerDelayMs && timerDelayMs * random()), () => {
      this.#timers.delete(timer);
      timer.run();
    });
  }
}
