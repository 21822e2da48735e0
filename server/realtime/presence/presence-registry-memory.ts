import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Counts, PresenceRegistry, ShareablePresence } from './presence-registry.ts';
import { PresenceRings } from './presence-rings.ts';

/** A tally within one process. */
export interface MemoryPresenceRegistry extends PresenceRegistry, ShareablePresence {
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
export function createMemoryPresence({
  clock,
  maxSeats,
}: {
  clock: Clock;
  maxSeats?: number;
}): MemoryPresenceRegistry {
  const rings = new PresenceRings(clock, maxSeats);
  return {
    register: (streamId, seat, nowMs) => rings.register(streamId, seat, nowMs),
    evict: (streamId, seats) => rings.evict(streamId, seats),
    count: (streamId) => rings.get(streamId)?.count(intervalAt(clock.nowMs())) ?? 0,
    countsAtEndOf: (ended) => rings.counts((ring) => ring.countAtEndOf(ended)),
    liveCounts: () => rings.liveCounts(),
    heldStreams: () => rings.held(),
    share: (sharer) => rings.share(sharer),
    unavailable: () => null,
    turn: () => rings.turn(),
  };
}
