import {
  runtime as currentRuntime,
  type Runtime,
  replaceRuntime,
} from '../../../server/platform/runtime.ts';
import type { Scheduler } from '../scheduler.ts';
import { createVirtualRuntime } from './virtual-runtime.ts';

interface PendingTimer {
  /** On the monotonic clock. */
  dueMs: number;
  cancel: () => void;
}

/** The clocks of a machine, which outlive its processes. */
export interface MachineClocks {
  /** When the machine was started, Unix ms. */
  readonly bootMs: number;
  /** Rate of its monotonic clock, ms per true ms. */
  readonly rate: number;
  /** Error of its system clock: ms ahead of true time. */
  systemErrorMs: number;
}

export interface MachineOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly clocks: MachineClocks;
}

/**
 * The process of one node in virtual time: the clocks of its machine, its timers, and whether it runs. Code of
 * a node runs in `run` only, which makes the machine's runtime the current one.
 */
export class Machine {
  readonly runtime: Runtime;
  /** CPU time that each event takes, ms: events queue while one runs. */
  eventMs = 0;
  /** When the CPU is free again, Unix ms. */
  private freeMs = 0;
  private readonly timers = new Set<PendingTimer>();
  private pending: (() => void)[] = [];
  private state: 'running' | 'stalled' | 'dead' = 'running';

  constructor(private readonly options: MachineOptions) {
    const { scheduler, random, clocks } = options;
    this.runtime = createVirtualRuntime({
      random,
      systemMs: () => Math.floor(scheduler.nowMs + clocks.systemErrorMs),
      monotonicMs: () => this.monotonicMs(),
      startTimer: (run, delayMs, periodMs) => this.startTimer(run, delayMs, periodMs),
    });
  }

  isDead(): boolean {
    return this.state === 'dead';
  }

  /** Runs code of this machine when its CPU is free; after the stall while it is stalled; never when it is dead. */
  run(work: () => void): void {
    if (this.state === 'dead') return;
    if (this.state === 'stalled') {
      this.pending.push(work);
      return;
    }
    const { scheduler } = this.options;
    if (this.freeMs > scheduler.nowMs) {
      const startMs = this.freeMs;
      this.freeMs += this.eventMs;
      scheduler.after(startMs - scheduler.nowMs, () => this.runNow(work));
      return;
    }
    if (this.eventMs > 0) this.freeMs = scheduler.nowMs + this.eventMs;
    this.runNow(work);
  }

  private runNow(work: () => void): void {
    if (this.state === 'dead') return;
    if (this.state === 'stalled') this.pending.push(work);
    else {
      replaceRuntime(this.runtime);
      work();
    }
  }

  /** Reads a value as code of this machine does, also while it is stalled. */
  read<T>(read: () => T): T {
    const previous = currentRuntime;
    replaceRuntime(this.runtime);
    try {
      return read();
    } finally {
      replaceRuntime(previous);
    }
  }

  /** Ends the process: its timers and everything on the way to it are lost. */
  kill(): void {
    this.state = 'dead';
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
    this.pending = [];
  }

  /** Nothing runs for this time, as during a garbage collection or a pause of the virtual machine. */
  stall(ms: number): void {
    if (this.state !== 'running') return;
    this.state = 'stalled';
    this.options.scheduler.after(ms, () => {
      if (this.state !== 'stalled') return;
      this.state = 'running';
      const { pending } = this;
      this.pending = [];
      // One by one, so that promises settle in between.
      for (const work of pending) this.options.scheduler.after(0, () => this.run(work));
    });
  }

  /** Sets the system clock by a difference. */
  stepSystemClock(ms: number): void {
    this.options.clocks.systemErrorMs += ms;
  }

  private monotonicMs(): number {
    const { scheduler, clocks } = this.options;
    return (scheduler.nowMs - clocks.bootMs) * clocks.rate;
  }

  private startTimer(run: () => void, delayMs: number, periodMs: number | null): () => void {
    const timer: PendingTimer = { dueMs: this.monotonicMs() + delayMs, cancel: () => {} };
    const fire = () => {
      if (!this.timers.has(timer)) return;
      if (periodMs === null) this.timers.delete(timer);
      else {
        // Like the event loop: a period that was missed is skipped.
        timer.dueMs = Math.max(timer.dueMs + periodMs, this.monotonicMs());
        schedule();
      }
      run();
    };
    const schedule = () => {
      const inMs = Math.max(0, timer.dueMs - this.monotonicMs()) / this.options.clocks.rate;
      timer.cancel = this.options.scheduler.after(inMs, () => this.run(fire));
    };
    this.timers.add(timer);
    schedule();
    return () => {
      timer.cancel();
      this.timers.delete(timer);
    };
  }
}
