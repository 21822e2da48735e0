/** Counts events in each second against a limit, where the number of bytes does not show the work. */
export class RateMeter {
  private second = 0;
  private count = 0;

  constructor(private readonly maxPerSecond: number) {}

  /** Adds to the count. @returns whether the limit of this second is exceeded */
  exceeds(amount: number, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.second) this.count = 0;
    this.second = second;
    this.count += amount;
    return this.count > this.maxPerSecond;
  }
}
