/** Counts what comes, where bytes are no measure of the work. */
export class RateMeter {
  private second = 0;
  private count = 0;

  constructor(private readonly maxPerSecond: number) {}

  /** Counts some more. @returns whether there are too many in this second */
  addExceeds(amount: number, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.second) this.count = 0;
    this.second = second;
    this.count += amount;
    return this.count > this.maxPerSecond;
  }
}
