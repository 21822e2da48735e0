// A timer that comes this much late was kept from running.
const EVERY_MS = 10;
const LATE_MS = 10;

/**
 * Times in which this process itself did not run: an answer that came then was not seen at once,
 * and what is measured of it is not the service's.
 */
export class Stalls {
  private readonly all: { fromMs: number; toMs: number }[] = [];
  private lastMs = Date.now();
  private readonly timer = setInterval(() => this.look(), EVERY_MS);

  /** ms between two moments in which this process did not run. */
  within(fromMs: number, toMs: number): number {
    this.look();
    return this.all
      .map((stall) => Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs))
      .reduce((sum, ms) => sum + Math.max(0, ms), 0);
  }

  end(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const nowMs = Date.now();
    if (nowMs - this.lastMs > EVERY_MS + LATE_MS) {
      this.all.push({ fromMs: this.lastMs + EVERY_MS, toMs: nowMs });
      if (this.all.length > 200) this.all.shift();
    }
    this.lastMs = nowMs;
  }
}
