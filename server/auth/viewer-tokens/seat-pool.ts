/** Most seats in a block, unless more viewers than that come at once. */
const BLOCK_MAX = 256;

/**
 * The seats of one stream that this node has leased and given to nobody yet (N-16). A seat that was
 * offered to the database, and of which it is not known whether it was taken, never comes back here.
 */
export class SeatPool {
  /** Highest first. */
  private readonly free: number[] = [];
  private blockSize = 1;

  /** Takes seats out, the lowest first: as many as there are, at most `count`. */
  take(count: number): number[] {
    return this.free.splice(Math.max(0, this.free.length - count)).reverse();
  }

  /** Puts in seats that nobody has: of a new block, or offered and not needed. */
  put(seats: readonly number[]): void {
    this.free.push(...seats);
    this.free.sort((a, b) => b - a);
  }

  /**
   * How many seats to lease when so many are missing. Blocks grow with the demand, so that a quiet
   * stream has small gaps and a rush few leases.
   */
  nextBlockSize(missing: number): number {
    const count = Math.max(missing, this.blockSize);
    this.blockSize = Math.min(BLOCK_MAX, 2 * this.blockSize);
    return count;
  }
}
