import type { Clock } from '../../platform/clock.ts';
import type { SeatMemory } from './presence-ring.ts';

/**
 * Which seats are present in which stream. A *registration* is one heartbeat of a viewer; it lasts
 * one second, rounded up to the end of an interval. The *count* of a stream is the number of distinct
 * seats with a registration that lasts (SPEC I-5): a viewer with many tabs has one seat and counts
 * once.
 */
export interface PresenceRegistry {
  /**
   * Registers a viewer's seat in a stream, now. Later reads of the count include it, unless the stream
   * is archived.
   * @param nowMs service time, if the caller has just read it
   * @throws RangeError when the seat is beyond the seats that a stream can have
   */
  register(streamId: string, seat: number, nowMs?: number): void;

  /**
   * Stops counting seats, from the next interval on at the latest. The caller makes sure that they
   * cannot register again. While Redis is unavailable, registrations that were replicated to it lapse
   * by themselves.
   */
  evict(streamId: string, seats: readonly number[]): void | Promise<void>;

  /** The count of one stream, now; 0 for a stream without registrations. */
  count(streamId: string): number | Promise<number>;

  /**
   * The count of every stream at the end of an interval. Contains each stream with a count above 0
   * once, and may contain streams that fell to 0 within the second before.
   * @param interval the newest interval that has ended
   */
  countsAtEndOf(interval: number): Counts | Promise<Counts>;

  /**
   * Every stream with a count above 0 now, once, with that count. On one node among several it
   * contains registrations on that node only.
   */
  liveCounts(): Counts;
}

/**
 * The presence of one node among several on one Redis. All nodes together count each seat once
 * (SPEC N-5). `countsAtEndOf` is for the node that seals: it includes the registrations of all nodes
 * that have replicated the interval.
 */
export interface SharedPresenceRegistry extends PresenceRegistry, ShareablePresence {
  /** @throws Unavailable while Redis is unavailable (SPEC N-9) */
  register(streamId: string, seat: number, nowMs?: number): void;

  /** @throws Unavailable while Redis is unavailable */
  count(streamId: string): Promise<number>;

  /** @throws Unavailable while Redis is unavailable */
  countsAtEndOf(interval: number): Promise<Counts>;

  /**
   * Sends Redis the registrations of an interval that has ended, and those of the window before it
   * that Redis is not known to have. A node calls it for each interval before it reports the
   * interval. Repeated registrations count once; failed ones are sent again with the next interval.
   * @throws Unavailable while Redis is unavailable
   */
  replicate(interval: number): Promise<void>;
}

/** Receives the memory in which other threads register. */
export interface RingListener {
  /** The ring of a stream is new or has grown. */
  ringShared(streamId: string, memory: SeatMemory): void;
  /** The ring of a stream is closed: registrations in it count no longer, and writers see that. */
  ringDropped(streamId: string): void;
  /** The stream is archived: it has no ring, and registrations in it never have an effect. */
  streamArchived(streamId: string): void;
}

/** A presence registry that other threads of the process can register in. */
export interface ShareablePresence {
  /** Gives other threads the memory to register in. Call it before the first registration. */
  share(listener: RingListener): void;
  /** Why registrations fail now, or null. */
  unavailableReason(): string | null;
  /** Advances to the current interval. Call it in every interval: other threads depend on it. */
  advance(): void;
}

export interface PresenceOptions {
  readonly clock: Clock;
  /** Whether a stream counts no viewers any more (S-21); absent: every stream does. */
  readonly isArchived?: (streamId: string) => boolean;
  /** The most seats a stream can have; `PresenceRing` has the default. */
  readonly maxSeats?: number;
}

/** Counts by stream id. */
export type Counts = Iterable<readonly [streamId: string, count: number]>;
