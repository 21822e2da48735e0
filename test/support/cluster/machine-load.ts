import { readFileSync } from 'node:fs';
import { queuedMsOf } from '../kill/killable-server.ts';

const TICK_MS = 10;
/** When a timer is later than this, this process did not run. */
const STALL_MS = 40;
const MAX_SPANS = 200;
const MAX_WAITS = 1_000;
const PRESSURE_FILE = '/proc/pressure/cpu';
const PRESSURE_SAMPLE_MS = 250;
/** CPU pressure is averaged from this time before a measured period until its end. */
const LOOKBACK_MS = 2_000;
/**
 * Share of time in which a task waited for a processor. The faults alone cause about half of this on
 * two cores. Above it the machine has other work, and measured times mean nothing.
 */
const OVERLOAD_SHARE = 0.9;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A period in which the main thread of a node waited for a core for `waitedMs`. */
interface Wait extends Span {
  readonly node: number;
  readonly waitedMs: number;
}

/**
 * Observes the test machine, so that its delays are not attributed to the service: periods in which
 * this process did not run, in which a node waited for a core, and in which all cores were busy (Linux
 * pressure stall information). While PostgreSQL shut down, its 30 processes ended at the same time, and
 * each node waited for a core for up to 0.5 s. What Linux does not report counts as no delay.
 */
export class MachineLoad {
  private readonly stalls: Span[] = [];
  private readonly waits: Wait[] = [];
  /** By node: its process, and how long that had waited for a core at the last tick. */
  private readonly queued = new Map<number, { readonly pid: number; readonly queuedMs: number }>();
  private readonly pressureSamples: (Span & { readonly waitedMs: number })[] = [];
  private lastTickMs = Date.now();
  private pressure = { atMs: Date.now(), totalMs: totalPressureMs() };
  private readonly timers = [
    setInterval(() => this.detectStall(), TICK_MS),
    setInterval(() => this.readPressure(), PRESSURE_SAMPLE_MS),
  ];

  /** @param nodePids the process of each node that runs */
  constructor(private readonly nodePids: () => ReadonlyMap<number, number>) {}

  /**
   * How long this process did not run in a period, or one of these nodes waited for a core, in ms. Both
   * may have happened at the same time, so the longest counts.
   */
  stalledMs(fromMs: number, toMs: number, nodes: readonly number[]): number {
    this.detectStall();
    const overlapMs = (span: Span) =>
      Math.max(0, Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs));
    const sum = (times: readonly number[]) => times.reduce((total, ms) => total + ms, 0);
    const waitsOf = (node: number) => this.waits.filter((wait) => wait.node === node);
    return Math.max(
      sum(this.stalls.map(overlapMs)),
      ...nodes.map((node) =>
        sum(waitsOf(node).map((wait) => Math.min(wait.waitedMs, overlapMs(wait)))),
      ),
    );
  }

  /** Whether other work kept all cores busy in a period. */
  isOverloaded(fromMs: number, toMs: number): boolean {
    this.readPressure();
    const samples = this.pressureSamples.filter(
      (sample) => sample.toMs > fromMs - LOOKBACK_MS && sample.fromMs < toMs,
    );
    const waitedMs = samples.reduce((sum, sample) => sum + sample.waitedMs, 0);
    const durationMs = samples.reduce((sum, sample) => sum + sample.toMs - sample.fromMs, 0);
    return durationMs > 0 && waitedMs / durationMs > OVERLOAD_SHARE;
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private detectStall(): void {
    const nowMs = Date.now();
    if (nowMs - this.lastTickMs > TICK_MS + STALL_MS) {
      this.stalls.push({ fromMs: this.lastTickMs + TICK_MS, toMs: nowMs });
      if (this.stalls.length > MAX_SPANS) this.stalls.shift();
    }
    this.readWaits(nowMs);
    this.lastTickMs = nowMs;
  }

  private readWaits(nowMs: number): void {
    for (const [node, pid] of this.nodePids()) {
      const queuedMs = queuedMsOf(pid);
      const last = this.queued.get(node);
      const waitedMs = last?.pid === pid ? queuedMs - last.queuedMs : 0;
      if (waitedMs > TICK_MS / 2) {
        // Linux counts a wait when it ends.
        const fromMs = Math.min(this.lastTickMs, nowMs - waitedMs);
        this.waits.push({ node, fromMs, toMs: nowMs, waitedMs });
        if (this.waits.length > MAX_WAITS) this.waits.shift();
      }
      this.queued.set(node, { pid, queuedMs });
    }
  }

  private readPressure(): void {
    const { atMs, totalMs } = this.pressure;
    const nowMs = Date.now();
    if (totalMs === null || nowMs <= atMs) return;
    const nowTotalMs = totalPressureMs();
    const waitedMs = (nowTotalMs ?? totalMs) - totalMs;
    this.pressureSamples.push({ fromMs: atMs, toMs: nowMs, waitedMs });
    if (this.pressureSamples.length > MAX_SPANS) this.pressureSamples.shift();
    this.pressure = { atMs: nowMs, totalMs: nowTotalMs };
  }
}

/** ms since boot in which a task waited for a core; null when the kernel does not report it. */
function totalPressureMs(): number | null {
  try {
    const [, total] = /^some .*total=(\d+)/m.exec(readFileSync(PRESSURE_FILE, 'utf8')) ?? [];
    return total === undefined ? null : Number(total) / 1_000;
  } catch {
    return null;
  }
}
