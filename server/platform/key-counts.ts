/** Counts for each key, up to a maximum. Keys without any take no memory. */
export class KeyCounts {
  private readonly counts = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** @returns false at the maximum, which stays */
  add(key: string): boolean {
    const count = this.counts.get(key) ?? 0;
    if (count >= this.max) return false;
    this.counts.set(key, count + 1);
    return true;
  }

  remove(key: string): void {
    const rest = (this.counts.get(key) ?? 0) - 1;
    if (rest > 0) this.counts.set(key, rest);
    else this.counts.delete(key);
  }
}
