import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Counts, ShareableTally, Tally } from './presence-registry.ts';
import { Rings } from './presence-rings.ts';

/** A tally within one process. */
export interface MemoryTally extends Tally, ShareableTally {
  count(streamId: string): number;
  countsAtEndOf(interval: number): Counts;
  /** How many streams take memory: the live ones, and some that were so a moment ago. */
  heldStreams(): number;
}

/**
 * The audience of every stream in the memory of this process.
 *
 * @param maxSeats the most seats a stream can have; `SeatRing` has the default.
 */
export function createMemoryTally({
  clock,
  maxSeats,
}: {
  clock: Clock;
  maxSeats?: number;
}): MemoryTally {
  const rings = new Rings(clock, maxSeats);
  return {
    register: (streamId, seat, nowMs) => rings.register(streamId, seat, nowMs),
    expel: (streamId, seats) => rings.expel(streamId, seats),
    count: (streamId) => rings.get(streamId)?.count(intervalAt(clock.nowMs())) ?? 0,
    countsAtEndOf: (ended) => rings.counts((ring) => ring.countAtEndOf(ended)),
    liveCounts: () => rings.liveCounts(),
    heldStreams: () => rings.held(),
    share: (sharer) => rings.share(sharer),
    away: () => null,
    turn: () => rings.turn(),
  };
}
