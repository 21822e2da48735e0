/** Measures how long a connection has been silent. Time in which this process was stalled does not count. */
export class SilenceTimer {
  private silentTotalMs = 0;
  private elapsedTotalMs = 0;
  private lastMs = 0;

  /** @param tickMs interval of the `tick` calls; the timer may be late */
  constructor(private readonly tickMs: number) {}

  /** Starts the measurement, with the first pending command. */
  start(nowMs: number): void {
    this.silentTotalMs = 0;
    this.lastMs = nowMs;
  }

  /** Resets the silence: the server sent something. */
  onResponse(nowMs: number): void {
    this.tick(nowMs);
    this.silentTotalMs = 0;
  }

  /**
   * Advances the time. A very late tick means that this process was stalled and may not have read a
   * response: it counts as two ticks at most.
   */
  tick(nowMs: number): void {
    const countedMs = Math.min(Math.max(0, nowMs - this.lastMs), 2 * this.tickMs);
    this.lastMs = nowMs;
    this.silentTotalMs += countedMs;
    this.elapsedTotalMs += countedMs;
  }

  /** Time without a response, in ms. */
  silentMs(): number {
    return this.silentTotalMs;
  }

  /** Total measured time, in ms. The age of a command is the difference of two values. */
  elapsedMs(): number {
    return this.elapsedTotalMs;
  }
}
