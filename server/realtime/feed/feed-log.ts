/** Told of every sealed interval of a stream, in order, each once. */
export type IntervalListener = (interval: number, body: Uint8Array) => void;

/** Waits for one interval of a stream: one of these is called, once. */
export interface IntervalWaiter {
  sealed(body: Uint8Array): void;
  /** @param error why it will not be sealed in time: `Unavailable` */
  refused(error: Error): void;
}

/** A sealed interval of one stream. */
export interface SealedInterval {
  readonly interval: number;
  readonly body: Uint8Array;
}

/** A page of sealed intervals, in order, and where the next one begins. */
export interface FeedRange {
  readonly page: readonly SealedInterval[];
  readonly next: number;
}

/**
 * The feed as readers see it. Every body it gives out is sealed: asked again, anywhere and at
 * any time, it is the same bytes (I1).
 */
export interface FeedLog {
  /** The last interval that is sealed. */
  sealedTo(): number;
  /**
   * The body of an interval; at once when it is sealed and recent, else when it has been read
   * from the database or is sealed. The caller sees to it that it is not too far ahead.
   * @throws Unavailable when it is not sealed in time, or too many wait
   */
  read(streamId: string, interval: number): Uint8Array | Promise<Uint8Array>;
  /**
   * Waits for an interval that is not sealed yet, as `read` does, without a promise for each.
   * @throws Unavailable when too many wait, or nobody knows when it will be sealed
   */
  hold(streamId: string, interval: number, holder: IntervalWaiter): void;
  /**
   * Sealed intervals from `from` on, in order, at most up to `to` and at most a page, which
   * is small enough to be held for each of many readers. Empty ones that ended long ago are left
   * out.
   */
  range(streamId: string, from: number, to: number): Promise<FeedRange>;
  /** Listens to a stream from the next sealed interval on. @returns a function that stops it */
  subscribe(streamId: string, listener: IntervalListener): () => void;
  /** Streams that somebody read or listens to in this interval or shortly before. */
  watched(interval: number): Iterable<string>;
}
