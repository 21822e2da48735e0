/** How long something waits for an answer; time in which this process itself stood still is none. */
export class Patience {
  private waitedMs = 0;
  private lastMs = 0;

  /** @param tickMs how often `tick` is called, by a timer that may be late */
  constructor(private readonly tickMs: number) {}

  /** Something begins to wait, or an answer came. */
  restart(nowMs: number): void {
    this.waitedMs = 0;
    this.lastMs = nowMs;
  }

  /**
   * Time went on. A tick that is late by far means that this process did not run, and perhaps did
   * not read an answer that lies there: it counts as two, however late.
   * @returns how much of that time counts, in ms
   */
  tick(nowMs: number): number {
    const countedMs = Math.min(Math.max(0, nowMs - this.lastMs), 2 * this.tickMs);
    this.lastMs = nowMs;
    this.waitedMs += countedMs;
    return countedMs;
  }

  /** How long nothing came, in ms. */
  waited(): number {
    return this.waitedMs;
  }
}
