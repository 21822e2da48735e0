import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Counts, PresenceRegistry, ShareablePresence } from './presence-registry.ts';
import { PresenceRings } from './presence-rings.ts';

/** Presence within one process. */
export interface MemoryPresenceRegistry extends PresenceRegistry, ShareablePresence {
  count(streamId: string): number;
  countsAtEndOf(interval: number): Counts;
  /** Number of streams that take memory: those with viewers, and some that had viewers shortly before. */
  ringCount(): number;
}

/** @param maxSeats the most seats a stream can have; `PresenceRing` has the default */
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
    ringCount: () => rings.size(),
    share: (listener) => rings.share(listener),
    unavailable: () => null,
    advance: () => rings.advance(),
  };
}
