import { readFileSync } from 'node:fs';

const TICK_MS = 10;
/** When a timer is later than this, this process did not run. */
const STALL_MS = 40;
const MAX_SPANS = 200;
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

/**
 * Observes the test machine, so that its delays are not attributed to the service: periods in which
 * this process did not run, and periods in which all cores were busy (Linux pressure stall
 * information). Without /proc/pressure/cpu the machine never counts as overloaded.
 */
export class MachineLoad {
  private readonly stalls: Span[] = [];
  private readonly pressureSamples: (Span & { readonly waitedMs: number })[] = [];
  private lastTickMs = Date.now();
  private pressure = { atMs: Date.now(), totalMs: totalPressureMs() };
  private readonly timers = [
    setInterval(() => this.detectStall(), TICK_MS),
    setInterval(() => this.readPressure(), PRESSURE_SAMPLE_MS),
  ];

  /** How long this process did not run in a period, in ms. */
  stalledMs(fromMs: number, toMs: number): number {
    this.detectStall();
    return this.stalls
      .map((stall) => Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs))
      .reduce((sum, ms) => sum + Math.max(0, ms), 0);
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
    this.lastTickMs = nowMs;
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
