import type { ReceivedMedia } from './received-media.ts';

/** A self-contained part of a source's bytes: a tag, a block, or a run of packets. */
export interface SourceUnit {
  readonly bytes: Uint8Array;
  /** Part of the headers, which every decoder needs first; a newer header replaces an older one. */
  readonly isHeader: boolean;
  /** Whether a decoder that has the headers can start here. */
  readonly isEntryPoint: boolean;
  /**
   * Presentation time by the source's clock, ms, unwrapped, as ffmpeg with `-copyts` reports it; null
   * for a unit without one.
   */
  readonly sourceMs: number | null;
}

/** Splits a container's bytes, received in chunks of any size, into units. */
export interface ContainerReader {
  /**
   * @returns the units completed by these bytes, in order; together they contain all source bytes
   * @throws Error with a message for the sender when the container is malformed or a unit too large
   */
  push(bytes: Uint8Array): SourceUnit[];
  /** Elements parsed since the last call, if units can hold many. */
  takeElementCount?(): number;
  /** Headers for a decoder that starts now. */
  header(): Uint8Array;
  readonly received: ReceivedMedia;
}
