import { readFileSync } from 'node:fs';

const EVERY_MS = 10;
// A timer that comes this much late was kept from running; less is within every tolerance.
const LATE_MS = 40;
const KEPT = 200;
const PRESSURE_FILE = '/proc/pressure/cpu';
const PRESSURE_EVERY_MS = 250;
/** Pressure is judged over this time before, and up to, what is judged. */
const BEFORE_MS = 2_000;
/**
 * Share of the time in which somebody waited for a core. The faults alone make about half of this on
 * two cores; what comes to it has other work beside it, and is no measurement.
 */
const OVERLOADED = 0.9;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * What the machine could not do in time, so that it is not blamed on the service: times in which
 * this process itself did not run, and times in which all cores were taken (Linux' pressure).
 */
export class Machine {
  private readonly stalls: Span[] = [];
  private readonly waits: (Span & { readonly waitedMs: number })[] = [];
  private lastMs = Date.now();
  private pressure = { atMs: Date.now(), totalMs: waitedMs() };
  private readonly timers = [
    setInterval(() => this.look(), EVERY_MS),
    setInterval(() => this.measure(), PRESSURE_EVERY_MS),
  ];

  /** ms between two moments in which this process did not run. */
  stalledMs(fromMs: number, toMs: number): number {
    this.look();
    return this.stalls
      .map((stall) => Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs))
      .reduce((sum, ms) => sum + Math.max(0, ms), 0);
  }

  /** Whether the cores were taken all the time up to this moment: what is late then is no fault. */
  isOverloaded(fromMs: number, toMs: number): boolean {
    this.measure();
    const spans = this.waits.filter((span) => span.toMs > fromMs - BEFORE_MS && span.fromMs < toMs);
    const waited = spans.reduce((sum, span) => sum + span.waitedMs, 0);
    const lasted = spans.reduce((sum, span) => sum + span.toMs - span.fromMs, 0);
    return lasted > 0 && waited / lasted > OVERLOADED;
  }

  end(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private look(): void {
    const nowMs = Date.now();
    if (nowMs - this.lastMs > EVERY_MS + LATE_MS) {
      this.stalls.push({ fromMs: this.lastMs + EVERY_MS, toMs: nowMs });
      if (this.stalls.length > KEPT) this.stalls.shift();
    }
    this.lastMs = nowMs;
  }

  private measure(): void {
    const { atMs, totalMs } = this.pressure;
    const nowMs = Date.now();
    if (totalMs === null || nowMs <= atMs) return;
    const now = waitedMs();
    this.waits.push({ fromMs: atMs, toMs: nowMs, waitedMs: (now ?? totalMs) - totalMs });
    if (this.waits.length > KEPT) this.waits.shift();
    this.pressure = { atMs: nowMs, totalMs: now };
  }
}

/** ms since the start of the machine in which somebody waited for a core; null: nobody knows. */
function waitedMs(): number | null {
  try {
    const [, total] = /^some .*total=(\d+)/m.exec(readFileSync(PRESSURE_FILE, 'utf8')) ?? [];
    return total === undefined ? null : Number(total) / 1_000;
  } catch {
    return null;
  }
}
