/** Counts what comes, where bytes are no measure of the work. */
export class PerSecond {
  private second = 0;
  private count = 0;

  constructor(private readonly most: number) {}

  /** Counts some more. @returns whether there are too many in this second */
  isTooMany(more: number, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.second) this.count = 0;
    this.second = second;
    this.count += more;
    return this.count > this.most;
  }
}
