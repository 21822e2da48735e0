import type { Epoch, PieceBytes, Segment, TrackId } from '../segment.ts';

/** How long a stream's segments are kept: for the DVR window, or as a recording. */
export type Keeping = 'dvr' | 'recording';

/** The segments of a stream that can be read, in memory and on disk. */
export interface Shelf {
  /** Oldest first; they grow and shrink in place. Segments that were lost are gaps. */
  readonly epochs: readonly Epoch[];
  readonly segments: readonly Segment[];
  /** The number of the segment that comes next; the old ones may all have left. */
  readonly nextSeq: number;
  /** Rises when epochs or segments change. */
  readonly version: number;
  addEpoch(epoch: Epoch): void;
  /** At once in memory, on disk a moment later. */
  add(segment: Segment, bytes: PieceBytes): void;
  /** @returns null too when the segment of this number is a gap, or of another epoch */
  read(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null;
  keep(keeping: Keeping): void;
  /** What is on disk is kept so, and what comes, as far as the disk takes it. */
  readonly keeping: Keeping;
  /** Everything is on disk that will be. @param isEnded no more will come, ever */
  close(isEnded: boolean): Promise<void>;
}

/** All shelves of this node. */
export interface Shelves {
  /** The shelf of a stream, made when there is none; the same one while it is open. */
  open(streamId: string): Promise<Shelf>;
  /** The shelf of a stream of which something is left; null without. */
  find(streamId: string): Promise<Shelf | null>;
  stats(): ShelfStats;
  close(): Promise<void>;
}

export interface ShelfStats {
  /** On disk. */
  readonly bytes: number;
  /** Streams whose segments are not written because the disk is full. */
  readonly fullStreams: number;
  /** Segments that were removed to make room. */
  readonly evicted: number;
}
