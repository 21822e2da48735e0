import { LIVE_INTERVALS } from './presence-cells.ts';
import type { Announcement, Part } from './presence-commands.ts';
import type { PresenceRing } from './presence-ring.ts';

/** The intervals that count at the end of this one, oldest first. */
export function windowTo(interval: number): number[] {
  return Array.from({ length: LIVE_INTERVALS }, (_, n) => interval - LIVE_INTERVALS + 1 + n);
}

/**
 * How much of what registered in one stream on this node Redis is known to have. A bitset only ever
 * gains bits, so the number of its seats says whether Redis has all of it.
 */
export class ReplicationState {
  /** Seats by interval and block. */
  readonly #seats = new Map<number, Map<number, number>>();
  /** The newest interval for which a block was announced. */
  readonly #announced = new Map<number, number>();

  /** Bitsets of the window to this interval that Redis is not known to have, by block. */
  missing(ring: PresenceRing, interval: number): Map<number, Part[]> {
    const missing = new Map<number, Part[]>();
    for (const past of windowTo(interval)) {
      const known = this.#seats.get(past);
      if (ring.seatsIn(past) === sum(known?.values() ?? [])) continue;
      for (const seats of ring.blocksOf(past)) {
        if (known?.get(seats.block) === seats.seats) continue;
        const parts = missing.get(seats.block) ?? [];
        missing.set(seats.block, [...parts, { interval: past, seats }]);
      }
    }
    return missing;
  }

  /** Redis has these. */
  confirm(parts: readonly Part[]): void {
    for (const { interval, seats } of parts) {
      const known = this.#seats.get(interval) ?? new Map<number, number>();
      this.#seats.set(interval, known);
      known.set(seats.block, Math.max(seats.seats, known.get(seats.block) ?? 0));
    }
  }

  /** The newest interval before this one of which Redis has a bitset of a block. */
  newestBefore(block: number, interval: number): number | undefined {
    return windowTo(interval - 1).findLast((past) => this.#seats.get(past)?.has(block));
  }

  /**
   * Blocks with seats that are newer than what was announced.
   * @param missing what is handed in together with the announcement
   */
  unannounced(
    streamId: string,
    interval: number,
    missing: ReadonlyMap<number, readonly Part[]>,
  ): Announcement[] {
    const newest = new Map<number, number>();
    for (const past of windowTo(interval)) {
      for (const block of this.#seats.get(past)?.keys() ?? []) newest.set(block, past);
    }
    for (const [block, parts] of missing) {
      const last = parts.at(-1) as Part;
      newest.set(block, Math.max(last.interval, newest.get(block) ?? last.interval));
    }
    return [...newest]
      .filter(([block, past]) => past > (this.#announced.get(block) ?? Number.NEGATIVE_INFINITY))
      .map(([block, past]) => ({ streamId, block, interval: past }));
  }

  announced({ block, interval }: Announcement): void {
    this.#announced.set(block, interval);
  }

  /** Forgets the intervals that are before the window to this one. */
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
