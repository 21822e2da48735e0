import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SeatMemory } from './presence-cells.ts';
import { PresenceRing } from './presence-ring.ts';

/** Intervals between two looks for rings to drop, when nobody reads the counts. */
const SWEEP_INTERVALS = 240;

/** Told where other threads register. */
export interface RingSharer {
  /** The ring of a stream, which is new or has grown. */
  shared(streamId: string, memory: SeatMemory): void;
  /** What registers in the ring of this stream counts no longer, and whoever tries knows it. */
  dropped(streamId: string): void;
}

/**
 * What registered on this node: one ring for each stream. An empty ring says nothing that no ring
 * does not, so it is dropped as soon as it is noticed; idle streams cost neither memory nor time.
 * They are noticed whenever counts of all streams are read, and at least once a minute while streams
 * keep coming.
 */
export class PresenceRings {
  readonly #rings = new Map<string, PresenceRing>();
  #nextSweep = Number.NEGATIVE_INFINITY;
  #sharer: RingSharer | null = null;

  /** @param maxSeats the most seats a stream can have; `SeatRing` has the default. */
  constructor(
    private readonly clock: Clock,
    private readonly maxSeats?: number,
  ) {}

  /** Lets other threads register, too; before anybody has. */
  share(sharer: RingSharer): void {
    this.#sharer = sharer;
  }

  /** @throws RangeError when the seat is beyond the seats a stream can have. */
  register(streamId: string, seat: number, nowMs = this.clock.nowMs()): void {
    const interval = intervalAt(nowMs);
    const ring = this.#rings.get(streamId) ?? this.#add(streamId, interval);
    ring.register(seat, interval);
  }

  /** Counts these seats no longer, until they register again. */
  evict(streamId: string, seats: readonly number[]): void {
    const interval = intervalAt(this.clock.nowMs());
    for (const seat of seats) this.#rings.get(streamId)?.evict(seat, interval);
  }

  get(streamId: string): PresenceRing | undefined {
    return this.#rings.get(streamId);
  }

  entries(): Iterable<readonly [streamId: string, ring: PresenceRing]> {
    return this.#rings;
  }

  /** Turns time on in all rings, so that other threads can register in the intervals to come. */
  turn(): void {
    const interval = intervalAt(this.clock.nowMs());
    for (const ring of this.#rings.values()) ring.count(interval);
  }

  /** The streams whose count of a kind is above 0, with it; drops the rings of those without viewers. */
  counts(
    countOf: (ring: PresenceRing, interval: number) => number,
  ): Array<readonly [string, number]> {
    const interval = intervalAt(this.clock.nowMs());
    this.#nextSweep = interval + SWEEP_INTERVALS;
    const found: Array<readonly [string, number]> = [];
    for (const [streamId, ring] of this.#rings) {
      const now = ring.count(interval);
      const count = countOf(ring, interval);
      if (count > 0) found.push([streamId, count]);
      if (now === 0 && ring.close()) this.#drop(streamId);
    }
    return found;
  }

  /** The streams that somebody is present in now, with how many. */
  liveCounts(): Array<readonly [string, number]> {
    return this.counts((ring, interval) => ring.count(interval));
  }

  /** How many streams take memory: the live ones, and some that were so a moment ago. */
  held(): number {
    return this.#rings.size;
  }

  #add(streamId: string, interval: number): PresenceRing {
    if (interval >= this.#nextSweep) this.liveCounts();
    const sharer = this.#sharer;
    const ring: PresenceRing = new PresenceRing(this.maxSeats, {
      isShared: sharer !== null,
      ...(sharer && { onGrown: () => sharer.shared(streamId, ring.memory()) }),
    });
    this.#rings.set(streamId, ring);
    return ring;
  }

  #drop(streamId: string): void {
    this.#rings.delete(streamId);
    this.#sharer?.dropped(streamId);
  }
}
