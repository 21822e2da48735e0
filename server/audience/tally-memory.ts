import { intervalAt } from '../../protocol/interval.ts';
import type { Clock } from '../clock.ts';
import { SeatRing } from './seat-ring.ts';
import type { Counts, Tally } from './tally.ts';

/** Intervals between two looks for rings to drop, when nobody reads the live counts. */
const SWEEP_INTERVALS = 240;

/** A tally within one process. */
export interface MemoryTally extends Tally {
  count(streamId: string): number;
  countsAtEndOf(interval: number): Counts;
  /** How many streams take memory: the live ones, and some that were so a moment ago. */
  heldStreams(): number;
}

/**
 * The audience of every stream in the memory of this process: one ring per stream. An empty ring says
 * nothing that no ring does not, so it is dropped as soon as it is noticed; idle streams cost neither
 * memory nor time. They are noticed whenever counts of all streams are read, which sealing does every
 * second, and at least once a minute while streams keep coming.
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
  const rings = new Map<string, SeatRing>();
  let nextSweep = Number.NEGATIVE_INFINITY;

  function counts(countOf: (ring: SeatRing, interval: number) => number) {
    const interval = intervalAt(clock.nowMs());
    nextSweep = interval + SWEEP_INTERVALS;
    const found: Array<readonly [string, number]> = [];
    for (const [streamId, ring] of rings) {
      const now = ring.count(interval);
      const count = countOf(ring, interval);
      if (count > 0) found.push([streamId, count]);
      if (now === 0) rings.delete(streamId);
    }
    return found;
  }

  const liveCounts = () => counts((ring, interval) => ring.count(interval));

  function addRing(streamId: string, interval: number): SeatRing {
    if (interval >= nextSweep) liveCounts();
    const ring = new SeatRing(maxSeats);
    rings.set(streamId, ring);
    return ring;
  }

  return {
    register(streamId, seat) {
      const interval = intervalAt(clock.nowMs());
      const ring = rings.get(streamId) ?? addRing(streamId, interval);
      ring.register(seat, interval);
    },
    count: (streamId) => rings.get(streamId)?.count(intervalAt(clock.nowMs())) ?? 0,
    countsAtEndOf: (ended) => counts((ring) => ring.countAtEndOf(ended)),
    liveCounts,
    heldStreams: () => rings.size,
  };
}
