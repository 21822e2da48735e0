import type { Environment } from '../../../../sdk/environment.ts';
import type { Scheduler } from './scheduler.ts';

/** Of the true time, ms. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Timer {
  /** On the monotonic clock. */
  readonly dueMs: number;
  readonly run: () => void;
  callOff: () => void;
}

export interface VirtualMachineOptions {
  readonly fetch: Environment['fetch'];
  readonly random: () => number;
  /** Ms of its monotonic clock in a true ms. */
  readonly pace: number;
  /** How far its system clock is ahead. */
  readonly systemErrorMs: number;
  readonly canStream: boolean;
  /** Its timers come late by up to so many ms. */
  readonly lateMs: number;
}

/** A machine in virtual time: its clocks are wrong, and it sleeps. */
export class VirtualMachine {
  readonly environment: Environment;
  /** When its system clock was set last. */
  wasSetMs = Number.NEGATIVE_INFINITY;
  readonly sleeps: Period[] = [];
  #systemErrorMs: number;
  readonly #timers = new Set<Timer>();
  readonly #lookers = new Set<() => void>();
  /** What came in while it slept. */
  readonly #held: (() => void)[] = [];
  #isAsleep = false;
  #isHidden = false;
  /** The monotonic clock, and when it showed that. */
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
          this.#lookers.add(listener);
          return () => this.#lookers.delete(listener);
        },
      },
    };
  }

  get isAsleep(): boolean {
    return this.#isAsleep;
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** How many listen to whether somebody looks. */
  get lookers(): number {
    return this.#lookers.size;
  }

  /** Runs what comes in from outside: after the sleep, if it sleeps. */
  receive(run: () => void): void {
    if (this.#isAsleep || this.#held.length > 0) this.#held.push(run);
    else run();
  }

  /**
   * Nothing runs on it for so long.
   * @param doesMonotonicRun whether that clock counts the sleep: it differs by system
   */
  sleep(ms: number, doesMonotonicRun: boolean): void {
    if (this.#isAsleep) return;
    this.#monotonicMs = this.#monotonic();
    this.#sinceMs = this.scheduler.nowMs;
    this.#isAsleep = true;
    this.sleeps.push({ fromMs: this.#sinceMs, toMs: this.#sinceMs + ms });
    for (const timer of this.#timers) timer.callOff();
    this.scheduler.after(ms, () => {
      if (!doesMonotonicRun) this.#sinceMs = this.scheduler.nowMs;
      this.#wake();
    });
  }

  /** Somebody sets the system clock. */
  setBy(ms: number): void {
    this.#systemErrorMs += ms;
    this.wasSetMs = this.scheduler.nowMs;
  }

  setHidden(isHidden: boolean): void {
    this.receive(() => {
      this.#isHidden = isHidden;
      for (const listener of [...this.#lookers]) listener();
    });
  }

  #wake(): void {
    this.#isAsleep = false;
    // Systems differ in what comes first: what came in, or what is overdue.
    const isTimersFirst = this.options.random() < 0.5;
    if (!isTimersFirst) this.#takeHeld();
    const overdueFirst = [...this.#timers].sort((a, b) => a.dueMs - b.dueMs);
    for (const timer of overdueFirst) this.#schedule(timer);
    if (isTimersFirst) this.#takeHeld();
  }

  /** One by one, in the order in which they came. */
  #takeHeld(): void {
    this.scheduler.after(0, () => {
      if (this.#isAsleep) return;
      this.#held.shift()?.();
      if (this.#held.length > 0) this.#takeHeld();
    });
  }

  #monotonic(): number {
    if (this.#isAsleep) return this.#monotonicMs;
    return this.#monotonicMs + (this.scheduler.nowMs - this.#sinceMs) * this.options.pace;
  }

  #after(ms: number, run: () => void): () => void {
    const dueMs = this.#monotonic() + Math.max(ms, 0);
    const timer: Timer = { dueMs, run, callOff: () => {} };
    this.#timers.add(timer);
    if (!this.#isAsleep) this.#schedule(timer);
    return () => {
      timer.callOff();
      this.#timers.delete(timer);
    };
  }

  #schedule(timer: Timer): void {
    const { pace, lateMs, random } = this.options;
    const inMs = Math.max(0, timer.dueMs - this.#monotonic()) / pace;
    timer.callOff = this.scheduler.after(inMs + (lateMs && lateMs * random()), () => {
      this.#timers.delete(timer);
      timer.run();
    });
  }
}
