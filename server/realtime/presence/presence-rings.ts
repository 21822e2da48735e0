import { intervalAt } from '../../../protocol/interval.ts';
import type {
  Counts,
  PresenceOptions,
  PresenceRegistry,
  RingListener,
  ShareablePresence,
} from './presence-registry.ts';
import { PresenceRing } from './presence-ring.ts';

/** Intervals between two sweeps of empty rings while the counts are not read. */
const SWEEP_INTERVALS = 240;

/**
 * The registrations on this node: one ring per stream. Empty rings are dropped, so that idle streams
 * cost neither memory nor time: whenever the counts of all streams are read, and at least once a
 * minute while new streams come.
 */
export class PresenceRings {
  readonly #rings = new Map<string, PresenceRing>();
  #nextSweep = Number.NEGATIVE_INFINITY;
  #listener: RingListener | null = null;

  constructor(private readonly options: PresenceOptions) {}

  /** Lets other threads register as well. Call it before the first registration. */
  share(listener: RingListener): void {
    this.#listener = listener;
  }

  /**
   * @returns false when the stream is archived: it has no ring, so that no other stream is checked here
   * @throws RangeError when the seat is beyond the seats that a stream can have
   */
  register(streamId: string, seat: number, nowMs = this.options.clock.nowMs()): boolean {
    const interval = intervalAt(nowMs);
    const ring = this.#rings.get(streamId) ?? this.#add(streamId, interval);
    if (ring === null) return false;
    ring.register(seat, interval);
    return true;
  }

  /** Stops counting these seats, until they register again. */
  evict(streamId: string, seats: readonly number[]): void {
    const interval = intervalAt(this.options.clock.nowMs());
    for (const seat of seats) this.#rings.get(streamId)?.evict(seat, interval);
  }

  get(streamId: string): PresenceRing | undefined {
    return this.#rings.get(streamId);
  }

  entries(): Iterable<readonly [streamId: string, ring: PresenceRing]> {
    return this.#rings;
  }

  /** Advances all rings to the current interval, so that other threads can register in the next. */
  advance(): void {
    const interval = intervalAt(this.options.clock.nowMs());
    for (const ring of this.#rings.values()) ring.count(interval);
  }

  /** Streams for which `countOf` is above 0, with that count. Drops empty rings and those of archived streams. */
  counts(
    countOf: (ring: PresenceRing, interval: number) => number,
  ): Array<readonly [string, number]> {
    const interval = intervalAt(this.options.clock.nowMs());
    this.#nextSweep = interval + SWEEP_INTERVALS;
    const nonzero: Array<readonly [string, number]> = [];
    for (const [streamId, ring] of this.#rings) {
      if (this.options.isArchived?.(streamId)) {
        ring.discard();
        this.#rings.delete(streamId);
        this.#listener?.streamArchived(streamId);
        continue;
      }
      const currentCount = ring.count(interval);
      const count = countOf(ring, interval);
      if (count > 0) nonzero.push([streamId, count]);
      if (currentCount === 0 && ring.close()) this.#drop(streamId);
    }
    return nonzero;
  }

  /** Streams with a count above 0 now, with that count. */
  liveCounts(): Array<readonly [string, number]> {
    return this.counts((ring, interval) => ring.count(interval));
  }

  /** Number of rings: of streams with viewers, and of some that had viewers shortly before. */
  size(): number {
    return this.#rings.size;
  }

  /** @returns null when the stream is archived */
  #add(streamId: string, interval: number): PresenceRing | null {
    if (this.options.isArchived?.(streamId)) {
      this.#listener?.streamArchived(streamId);
      return null;
    }
    if (interval >= this.#nextSweep) this.liveCounts();
    const listener = this.#listener;
    const ring: PresenceRing = new PresenceRing(this.options.maxSeats, {
      isShared: listener !== null,
      ...(listener && { onGrown: () => listener.ringShared(streamId, ring.memory()) }),
    });
    this.#rings.set(streamId, ring);
    return ring;
  }

  #drop(streamId: string): void {
    this.#rings.delete(streamId);
    this.#listener?.ringDropped(streamId);
  }
}

/** Presence within one process. */
export interface MemoryPresenceRegistry extends PresenceRegistry, ShareablePresence {
  count(streamId: string): number;
  countsAtEndOf(interval: number): Counts;
  /** Number of streams that take memory: those with viewers, and some that had viewers shortly before. */
  ringCount(): number;
}

export function createMemoryPresence(options: PresenceOptions): MemoryPresenceRegistry {
  const { clock } = options;
  const rings = new PresenceRings(options);
  return {
    register: (streamId, seat, nowMs) => void rings.register(streamId, seat, nowMs),
    evict: (streamId, seats) => rings.evict(streamId, seats),
    count: (streamId) => rings.get(streamId)?.count(intervalAt(clock.nowMs())) ?? 0,
    countsAtEndOf: (ended) => rings.counts((ring) => ring.countAtEndOf(ended)),
    liveCounts: () => rings.liveCounts(),
    ringCount: () => rings.size(),
    share: (listener) => rings.share(listener),
    unavailableReason: () => null,
    advance: () => rings.advance(),
  };
}
