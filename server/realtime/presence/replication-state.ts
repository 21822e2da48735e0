import type { Announcement, IntervalBlock } from './presence-commands.ts';
import { LIVE_INTERVALS, type PresenceRing } from './presence-ring.ts';

/** The window of an interval: the intervals whose registrations count at its end, oldest first. */
export function windowTo(interval: number): number[] {
  return Array.from({ length: LIVE_INTERVALS }, (_, n) => interval - LIVE_INTERVALS + 1 + n);
}

/**
 * Which registrations in one stream on this node Redis is known to have. A bitset only
 * gains bits, so comparing the number of its seats shows whether Redis has all of it.
 */
export class ReplicationState {
  /** Numbers of seats that Redis has, by interval and block. */
  readonly #seats = new Map<number, Map<number, number>>();
  /** The newest interval for which a block was announced. */
  readonly #announced = new Map<number, number>();

  /** Bitsets in the window of an interval that Redis is not known to have, by block. */
  missing(ring: PresenceRing, interval: number): Map<number, IntervalBlock[]> {
    const missing = new Map<number, IntervalBlock[]>();
    for (const past of windowTo(interval)) {
      const replicated = this.#seats.get(past);
      if (ring.seatsIn(past) === sum(replicated?.values() ?? [])) continue;
      for (const seats of ring.blocksOf(past)) {
        if (replicated?.get(seats.block) === seats.seats) continue;
        const blocks = missing.get(seats.block) ?? [];
        missing.set(seats.block, [...blocks, { interval: past, seats }]);
      }
    }
    return missing;
  }

  /** Redis has these bitsets. */
  confirm(blocks: readonly IntervalBlock[]): void {
    for (const { interval, seats } of blocks) {
      const replicated = this.#seats.get(interval) ?? new Map<number, number>();
      this.#seats.set(interval, replicated);
      replicated.set(seats.block, Math.max(seats.seats, replicated.get(seats.block) ?? 0));
    }
  }

  /** The newest interval before this one for which Redis has a bitset of a block. */
  newestBefore(block: number, interval: number): number | undefined {
    return windowTo(interval - 1).findLast((past) => this.#seats.get(past)?.has(block));
  }

  /**
   * Blocks with seats that are newer than their announcement.
   * @param missing bitsets that are sent together with the announcement
   */
  unannounced(
    streamId: string,
    interval: number,
    missing: ReadonlyMap<number, readonly IntervalBlock[]>,
  ): Announcement[] {
    const newest = new Map<number, number>();
    for (const past of windowTo(interval)) {
      for (const block of this.#seats.get(past)?.keys() ?? []) newest.set(block, past);
    }
    for (const [block, blocks] of missing) {
      const last = blocks.at(-1) as IntervalBlock;
      newest.set(block, Math.max(last.interval, newest.get(block) ?? last.interval));
    }
    return [...newest]
      .filter(([block, past]) => past > (this.#announced.get(block) ?? Number.NEGATIVE_INFINITY))
      .map(([block, past]) => ({ streamId, block, interval: past }));
  }

  announced({ block, interval }: Announcement): void {
    this.#announced.set(block, interval);
  }

  /** Drops intervals before the window of this one. */
  expire(interval: number): void {
    for (const past of this.#seats.keys()) {
      if (past <= interval - LIVE_INTERVALS) this.#seats.delete(past);
    }
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
