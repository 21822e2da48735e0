/**
 * Who is present in which stream. A *registration* is one POST of a viewer; it lasts one second,
 * rounded up to the end of an interval. The *count* of a stream is the number of distinct seats with
 * a registration that lasts (SPEC I-5): a viewer in many tabs has one seat and counts once.
 */
export interface Tally {
  /**
   * Registers a viewer's seat in a stream, now. A count asked for afterwards includes it.
   * @throws RangeError when the seat is beyond the seats a stream can have.
   */
  register(streamId: string, seat: number): void;

  /** The count of one stream, now; 0 for a stream nobody registered in. */
  count(streamId: string): number | Promise<number>;

  /**
   * Every stream whose count was above 0 at the end of an interval, once, with that count.
   * @param interval the one that ended last
   */
  countsAtEndOf(interval: number): Counts | Promise<Counts>;

  /**
   * Every stream whose count is above 0 now, once, with that count; of one node among several,
   * those that registered there.
   */
  liveCounts(): Counts;
}

/** Streams with their counts. */
export type Counts = Iterable<readonly [streamId: string, count: number]>;
