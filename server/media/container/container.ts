/** A piece of a source's bytes that is whole in itself: a tag, a block, some packets. */
export interface SourceUnit {
  readonly bytes: Uint8Array;
  /** Needed by every decoder that begins, however late; the newest of each replaces those before. */
  readonly isHeader: boolean;
  /** A decoder that has the headers can begin here. */
  readonly isJoin: boolean;
  /**
   * Presentation time in ms by the source's own clock, as ffmpeg with `-copyts` sees it, wraps
   * undone; null where there is none.
   */
  readonly sourceMs: number | null;
}

/** Follows a container's bytes as they come, in chunks of any size. */
export interface ContainerReader {
  /**
   * @returns the units that are whole now, in order; all bytes of the source are in one of them
   * @throws Error with a line for the sender when this is no such container, or a unit is too large
   */
  push(bytes: Uint8Array): SourceUnit[];
  /** What a decoder that begins now is given first. */
  header(): Uint8Array;
}
