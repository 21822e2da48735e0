/** How long something waits for an answer; time in which this process itself stood still is none. */
export class Patience {
  private waitedMs = 0;
  private passedMs = 0;
  private lastMs = 0;

  /** @param tickMs how often `tick` is called, by a timer that may be late */
  constructor(private readonly tickMs: number) {}

  /** Something begins to wait, and nothing did before. */
  begin(nowMs: number): void {
    this.waitedMs = 0;
    this.lastMs = nowMs;
  }

  /** An answer came, and more is waited for. */
  answered(nowMs: number): void {
    this.tick(nowMs);
    this.waitedMs = 0;
  }

  /**
   * Time went on. A tick that is late by far means that this process did not run, and perhaps did
   * not read an answer that lies there: it counts as two, however late.
   */
  tick(nowMs: number): void {
    const countedMs = Math.min(Math.max(0, nowMs - this.lastMs), 2 * this.tickMs);
    this.lastMs = nowMs;
    this.waitedMs += countedMs;
    this.passedMs += countedMs;
  }

  /** How long no answer came, in ms. */
  waited(): number {
    return this.waitedMs;
  }

  /** All time that counted, in ms: what the ages of two things that wait are the difference of. */
  passed(): number {
    return this.passedMs;
  }
}
