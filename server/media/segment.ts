/** Track id: `v0`, `v1`, … for the renditions from high to low, `a0` for the audio. */
export type TrackId = string;

/** The properties of a track that a player needs before playback. */
export type Track = VideoTrack | AudioTrack;

interface AnyTrack {
  readonly id: TrackId;
  /** As in RFC 6381, such as `avc1.64001f`. */
  readonly codec: string;
  /** Ticks a second. */
  readonly timescale: number;
  /** Peak bit rate over any segment, bit/s. */
  readonly bandwidth: number;
}

export interface VideoTrack extends AnyTrack {
  readonly kind: 'video';
  readonly width: number;
  readonly height: number;
  /** Frames a second, as a fraction. */
  readonly frameRate: readonly [frames: number, seconds: number];
}

export interface AudioTrack extends AnyTrack {
  readonly kind: 'audio';
  readonly sampleRate: number;
  readonly channels: number;
}

/**
 * One run of an encoder. Its segments are contiguous and share their init segments. Between two
 * epochs there is a discontinuity.
 */
export interface Epoch {
  /** Counts from 0. */
  readonly number: number;
  /**
   * Service time of its first frame, Unix ms. The DASH Period starts here, also after the first
   * segment has been removed.
   */
  readonly startMs: number;
  readonly tracks: readonly Track[];
  /** The init segment (`ftyp` and `moov`) of each track. */
  readonly inits: ReadonlyMap<TrackId, Uint8Array>;
}

/**
 * The name of an epoch in URLs: its start, whole Unix ms. The number is not unique: after a crash,
 * segments that were served but not written to disk are followed by others with the same numbers,
 * and caches keep responses for a year.
 */
export function epochName({ startMs }: Pick<Epoch, 'startMs'>): number {
  return Math.round(startMs);
}

/** The data of one track in a segment or part. */
export interface Piece {
  /** Service time in ticks: Unix time × timescale. */
  readonly startTicks: number;
  readonly durationTicks: number;
  readonly byteLength: number;
}

/** A segment: the same time span of every track. Starts with a key frame in each rendition. */
export interface Segment {
  /** Media sequence number: counts from 0, across epochs. */
  readonly seq: number;
  readonly epoch: number;
  /** Service time of the first frame of the first rendition, Unix ms. */
  readonly startMs: number;
  /** Duration of the first rendition, ms; may be fractional. */
  readonly durationMs: number;
  /** Empty for a gap. */
  readonly pieces: ReadonlyMap<TrackId, Piece>;
}

/** Whether a segment was lost; a gap has only a number and a time. */
export function isGap({ pieces }: Segment): boolean {
  return pieces.size === 0;
}

/** A part of a segment, for low latency: the same time span of every track. */
export interface Part {
  /** Index in its segment, from 0. */
  readonly index: number;
  /** Starts with a key frame. */
  readonly isIndependent: boolean;
  readonly pieces: ReadonlyMap<TrackId, Piece>;
}

/** The bytes of a segment or part by track: one or more pairs of `moof` and `mdat` boxes. */
export type TrackBytes = ReadonlyMap<TrackId, Uint8Array>;

/** The playable state of a stream. Arrays change in place; `version` shows that they changed. */
export interface Presentation {
  /** Incremented by every change. */
  readonly version: number;
  /** The epochs of the segments, oldest first. */
  readonly epochs: readonly Epoch[];
  /**
   * Oldest first, with consecutive numbers. Neither the first nor the last is a gap. Those of the DVR
   * window, and all stored ones after the end.
   */
  readonly segments: readonly Segment[];
  /** Parts of the newest segments and the open one, by sequence number; empty without low latency. */
  readonly parts: ReadonlyMap<number, readonly Part[]>;
  readonly isEnded: boolean;
  /** When the stream's end was last taken back, Unix ms; null: never. */
  readonly reopenedMs: number | null;
  /** Target duration of a segment, ms. */
  readonly segmentMs: number;
  /** Target duration of a part, ms; null: no low latency. */
  readonly partMs: number | null;
  /** Target latency of players, ms: more than two segments. */
  readonly latencyMs: number;
  /** DVR window, ms; null: unlimited. */
  readonly dvrMs: number | null;
}

/** A stream that the origin serves. */
export interface PlayableStream {
  /** The account of the stream; empty: unknown. */
  readonly account: string;
  presentation(): Presentation;
  /** @param epoch name of the epoch, here and below */
  init(epoch: number, track: TrackId): Uint8Array | null;
  /** A segment's bytes: in memory, or a slice of a file. */
  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null;
  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null;
  /**
   * Calls `run` once when the presentation is newer than this version, at once if it is.
   * @returns a function that forgets `run`
   */
  onChange(version: number, run: () => void): () => void;
}

export interface PlayableStreams {
  /**
   * @param network of the client: those whose streams must be loaded take turns
   * @returns null when the stream has no segments
   */
  find(streamId: string, network: string): Promise<PlayableStream | null>;
}
