import type { Scheduler } from '../scheduler.ts';

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

interface OpenFault extends Period {
  readonly kind: string;
  toMs: number;
}

/** What happened when: the faults, for a reader of a failure and for the oracle. */
export class Timeline {
  readonly entries: { readonly atMs: number; readonly text: string }[] = [];
  private readonly stalls = new Map<number, Period[]>();
  private readonly startMs: number;
  private readonly faults: OpenFault[] = [];

  constructor(private readonly scheduler: Scheduler) {
    this.startMs = scheduler.nowMs;
  }

  /** The entries with their time since the start. */
  lines(): string[] {
    return this.entries.map(({ atMs, text }) => `${(atMs - this.startMs).toFixed(0)} ms: ${text}`);
  }

  add(text: string): void {
    this.entries.push({ atMs: this.scheduler.nowMs, text });
  }

  /** A fault begins. @returns what its end calls */
  beginFault(kind: string, text: string): () => void {
    const fault: OpenFault = {
      kind,
      fromMs: this.scheduler.nowMs,
      toMs: Number.POSITIVE_INFINITY,
    };
    this.faults.push(fault);
    this.add(text);
    return () => {
      fault.toMs = this.scheduler.nowMs;
      this.add(`${kind}: end`);
    };
  }

  /** Kinds of the faults that were open at some moment between two times. */
  faultsBetween(fromMs: number, toMs: number): string[] {
    return this.faults
      .filter((fault) => fault.fromMs <= toMs && fault.toMs >= fromMs)
      .map(({ kind }) => kind);
  }

  /** Whether no fault was open from this time until now. */
  isCalmSince(fromMs: number): boolean {
    return this.faultsBetween(fromMs, this.scheduler.nowMs).length === 0;
  }

  stalled(slot: number, ms: number): void {
    const { nowMs } = this.scheduler;
    const stalls = this.stalls.get(slot) ?? [];
    // A part that another stall covers is not added twice.
    const fromMs = Math.max(nowMs, ...stalls.map(({ toMs }) => toMs));
    if (fromMs < nowMs + ms) this.stalls.set(slot, [...stalls, { fromMs, toMs: nowMs + ms }]);
  }

  /** How long the node in a slot was stalled between two times. */
  stalledMs(slot: number | null, fromMs: number, toMs: number): number {
    return (this.stalls.get(slot ?? -1) ?? []).reduce((sumMs, stall) => {
      const ms = Math.min(stall.toMs, toMs) - Math.max(stall.fromMs, fromMs);
      return sumMs + Math.max(0, ms);
    }, 0);
  }
}
