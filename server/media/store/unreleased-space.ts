import { Fifo } from '../../platform/fifo.ts';

/** Evictions that have freed nothing by then do not count any more. btrfs and ZFS commit every 5 to 30 s. */
const RELEASE_TIMEOUT_MS = 60_000;

/**
 * Space of evicted segments that the file system does not show as free yet: btrfs and ZFS show it late, and
 * a snapshot or an open file keeps it. Without this, each sweep evicted the same amount again.
 */
export class UnreleasedSpace {
  private readonly evictions = new Fifo<{ bytes: number; readonly atMs: number }>();
  private totalBytes = 0;
  /** Free space and segments together at the last update. Writes and evictions of segments leave it as it is. */
  private availableBytes = Number.POSITIVE_INFINITY;
  private isReported = false;

  /** @param onTimeout called when evictions have not freed these bytes in time; once until others have */
  constructor(private readonly onTimeout: (bytes: number) => void) {}

  get bytes(): number {
    return this.totalBytes;
  }

  /** Adds an eviction whose space is not free after it. */
  add(bytes: number, nowMs: number): void {
    this.evictions.push({ bytes, atMs: nowMs });
    this.totalBytes += bytes;
  }

  /** Takes a rise of the available space for space of the oldest evictions. */
  update(availableBytes: number, nowMs: number): void {
    this.release(availableBytes - this.availableBytes);
    this.availableBytes = availableBytes;
    const bytes = this.removeExpired(nowMs);
    if (bytes > 0 && !this.isReported) {
      this.isReported = true;
      this.onTimeout(bytes);
    }
  }

  private release(bytes: number): void {
    let left = bytes;
    for (let oldest = this.evictions.first(); oldest && left > 0; oldest = this.evictions.first()) {
      const released = Math.min(left, oldest.bytes);
      oldest.bytes -= released;
      left -= released;
      this.totalBytes -= released;
      if (oldest.bytes === 0) this.evictions.shift();
    }
    // Not by the sum: those of fractions are not exact.
    if (left === bytes || this.evictions.first()) return;
    this.totalBytes = 0;
    this.isReported = false;
  }

  private removeExpired(nowMs: number): number {
    let expired = 0;
    for (let oldest = this.evictions.first(); oldest; oldest = this.evictions.first()) {
      if (nowMs - oldest.atMs < RELEASE_TIMEOUT_MS) break;
      expired += oldest.bytes;
      this.evictions.shift();
    }
    this.totalBytes -= expired;
    return expired;
  }
}
