/** Receives every sealed interval of a stream, in order, each once. */
export type IntervalListener = (interval: number, body: Uint8Array) => void;

/** Waits for one interval of a stream. One of its methods is called, once. */
export interface IntervalWaiter {
  onSealed(body: Uint8Array): void;
  /** @param error why the interval is not sealed in time: `Unavailable` */
  onFailed(error: Error): void;
}

export interface SealedInterval {
  readonly interval: number;
  readonly body: Uint8Array;
}

/** A page of sealed intervals, in order, and the first interval of the next page. */
export interface FeedRange {
  readonly page: readonly SealedInterval[];
  readonly next: number;
}

/**
 * Returns the rate limit key of the client that reads; null: unknown. Called only before a read of the database.
 */
export type ReadClient = () => string | null;

/** The feed for its readers. Every read of a sealed interval returns the same bytes (I1). */
export interface FeedLog {
  /** The newest interval that is sealed and served here. */
  watermark(): number;
  /**
   * Reads an interval: at once when it is recent, from the database when it is old; waits for it
   * when it is not sealed yet. The caller limits how far ahead it may be.
   * @param client for a read of the database, which waits for the turn of its client
   * @throws Unavailable when it is not sealed in time, or too many wait
   */
  read(streamId: string, interval: number, client?: ReadClient): Uint8Array | Promise<Uint8Array>;
  /**
   * Waits for an interval that is not sealed yet, as `read` does, without allocating a promise.
   * @throws Unavailable when too many wait, sealing is stalled or the service is stopping
   */
  waitFor(streamId: string, interval: number, waiter: IntervalWaiter): void;
  /**
   * Reads a page of sealed intervals from `from` on, at most up to `to`. A page is small enough to
   * be buffered for each of many readers. Old empty intervals are left out.
   * @param client as for `read`
   */
  range(streamId: string, from: number, to: number, client?: ReadClient): Promise<FeedRange>;
  /** Listens to a stream from the next sealed interval on. @returns a function that ends it */
  subscribe(streamId: string, listener: IntervalListener): () => void;
  /** Ids of streams that have listeners, or were read in this interval or shortly before. */
  activeStreams(interval: number): Iterable<string>;
}
