import type { Epoch, Segment, TrackBytes, TrackId } from '../segment.ts';

/** How long segments are retained: for the DVR window, as a recording, or as a preview. */
export type Retention = 'dvr' | 'recording' | 'preview';

/** How far back the video of a stream that has not started reaches. */
export const PREVIEW_WINDOW_MS = 60_000;

/** The segments of one stream, in memory and on disk. */
export interface StreamSegments {
  /** Oldest first. Lost segments are gaps. */
  readonly epochs: readonly Epoch[];
  readonly segments: readonly Segment[];
  readonly nextSeq: number;
  /** The number of the next epoch. */
  readonly nextEpoch: number;
  /** Rises when epochs or segments change. */
  readonly version: number;
  addEpoch(epoch: Epoch): void;
  /** Adds a segment. It is readable at once and written to disk in the background. */
  add(segment: Segment, bytes: TrackBytes): void;
  /** Bytes of a track; null when the segment is missing, a gap, or of another epoch. */
  read(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null;
  /** Sets the account whose share of the disk space it uses. */
  setAccount(account: string): void;
  setRetention(retention: Retention): void;
  /**
   * What is added from now on is a preview, unless a previous one is not removed yet: call it again then.
   * Video of a show before it stays: a database that was restored may not know its start any more.
   */
  startPreview(): void;
  /** Whether segments that are added are a preview. */
  readonly isPreview: boolean;
  /** Removes segments of the preview that end by this time, Unix ms, and from then on those that are added. */
  removeBefore(ms: number): void;
  /** Applies to stored and future segments, as far as there is disk space. */
  readonly retention: Retention;
  /** Whether segments were added since the process started, and the stream has not ended after them. */
  readonly hasNewSegments: boolean;
  /** Notes when the stream ended, Unix ms, unless an end after its newest segment is known. */
  setEnded(ms: number): void;
  /** Writes what is pending to disk. @param isEnded the stream has ended */
  close(isEnded: boolean): Promise<void>;
}

/** The segments of all streams on this node. */
export interface SegmentStore {
  /**
   * Opens the segments of a stream; the same object while it is open.
   * @param network of the client for whom they are loaded: networks take turns
   */
  open(streamId: string, network?: string): Promise<StreamSegments>;
  /** The segments of a stream; null when it has none. */
  find(streamId: string, network?: string): Promise<StreamSegments | null>;
  stats(): SegmentStoreStats;
  close(): Promise<void>;
}

export interface SegmentStoreStats {
  /** Disk space used. */
  readonly bytes: number;
  /** Streams whose segments cannot be written, because the disk is full or fails. */
  readonly fullStreams: number;
  /** Segments removed to free disk space since the start. */
  readonly evicted: number;
}
