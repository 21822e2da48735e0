/** Largest block of seats, unless more viewers than that need a seat at once. */
const BLOCK_MAX = 256;

/**
 * The seats of one stream that this node has leased and not assigned (N-16). A seat whose assignment
 * has an unknown outcome never returns to the pool.
 */
export class SeatPool {
  /** Highest first. */
  private readonly free: number[] = [];
  private blockSize = 1;

  /** Removes and returns up to `count` seats, the lowest first. */
  take(count: number): number[] {
    return this.free.splice(Math.max(0, this.free.length - count)).reverse();
  }

  /** Adds unassigned seats: those of a new block, or offered ones that were not needed. */
  put(seats: readonly number[]): void {
    this.free.push(...seats);
    this.free.sort((a, b) => b - a);
  }

  /**
   * The number of seats to lease when `missing` are needed. Blocks double up to a maximum, so that a
   * quiet stream has small gaps and a rush needs few leases.
   */
  nextBlockSize(missing: number): number {
    const count = Math.max(missing, this.blockSize);
    this.blockSize = Math.min(BLOCK_MAX, 2 * this.blockSize);
    return count;
  }
}
