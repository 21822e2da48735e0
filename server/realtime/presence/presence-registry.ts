import type { RingSharer } from './presence-rings.ts';

/**
 * Who is present in which stream. A *registration* is one POST of a viewer; it lasts one second,
 * rounded up to the end of an interval. The *count* of a stream is the number of distinct seats with
 * a registration that lasts (SPEC I-5): a viewer in many tabs has one seat and counts once.
 */
export interface PresenceRegistry {
  /**
   * Registers a viewer's seat in a stream, now. A count asked for afterwards includes it.
   * @param nowMs service time, of whoever has just read it
   * @throws RangeError when the seat is beyond the seats a stream can have.
   */
  register(streamId: string, seat: number, nowMs?: number): void;

  /**
   * Counts seats no longer, from the next interval on at the latest: whoever calls this lets them
   * register no more. What Redis, that is unavailable, cannot be told lapses with their last registrations.
   */
  evict(streamId: string, seats: readonly number[]): void | Promise<void>;

  /** The count of one stream, now; 0 for a stream nobody registered in. */
  count(streamId: string): number | Promise<number>;

  /**
   * Every stream whose count was above 0 at the end of an interval, once, with that count. Streams
   * that fell to 0 within the second before may be among them, with 0.
   * @param interval the one that ended last
   */
  countsAtEndOf(interval: number): Counts | Promise<Counts>;

  /**
   * Every stream whose count is above 0 now, once, with that count; of one node among several,
   * those that registered there.
   */
  liveCounts(): Counts;
}

/**
 * The tally of one node among several on one Redis. All of them together count each seat once
 * (SPEC N-5). `countsAtEndOf` is for whichever node seals: it has the registrations of all nodes
 * that have sent the interval before.
 */
export interface SharedPresenceRegistry extends PresenceRegistry, ShareablePresence {
  /** @throws Unavailable while Redis is unavailable (SPEC N-9); else like `Tally`, and as cheap */
  register(streamId: string, seat: number, nowMs?: number): void;

  /** @throws Unavailable while Redis is unavailable */
  count(streamId: string): Promise<number>;

  /** @throws Unavailable while Redis is unavailable */
  countsAtEndOf(interval: number): Promise<Counts>;

  /**
   * Hands Redis what registered here in an interval that has ended, and what of the window before
   * is not known to be there. A node calls it for each interval, before it says that it is done
   * with it. What is sent twice counts once, and what failed goes again with the next interval.
   * @throws Unavailable while Redis is unavailable
   */
  send(interval: number): Promise<void>;
}

/** A tally for whose streams other threads register, too. */
export interface ShareablePresence {
  /** Tells where, before anybody has registered. */
  share(sharer: RingSharer): void;
  /** Why nobody can register now, or null. */
  unavailable(): string | null;
  /** To be called in every interval, also while nothing is counted: other threads wait for it. */
  turn(): void;
}

/** Streams with their counts. */
export type Counts = Iterable<readonly [streamId: string, count: number]>;
