/** A track of a stream: `v0`, `v1`, … for the renditions from high to low, `a0` for the sound. */
export type TrackId = string;

/** What a player must know of a track before it plays. */
export type Track = VideoTrack | AudioTrack;

interface AnyTrack {
  readonly id: TrackId;
  /** As in RFC 6381, such as `avc1.64001f`. */
  readonly codec: string;
  /** Ticks a second. */
  readonly timescale: number;
  /** The most it takes, bit/s, over any segment. */
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
 * A run of one encoder. All segments of an epoch follow each other without a gap and share their
 * init segments; between two epochs there is a discontinuity.
 */
export interface Epoch {
  /** From 0, one more for each. */
  readonly number: number;
  /**
   * Service time of its first picture, Unix ms. A DASH Period begins here, and must go on to when
   * the segment that began it has been removed.
   */
  readonly startMs: number;
  readonly tracks: readonly Track[];
  /** The init segment (`ftyp` and `moov`) of each track. */
  readonly inits: ReadonlyMap<TrackId, Uint8Array>;
}

/**
 * How an epoch is named in addresses: when it began, whole Unix ms. Its number is not enough: what
 * was served and never came to disk before a crash has numbers that come again, with other bytes,
 * and caches keep what they have for a year.
 */
export function epochName({ startMs }: Pick<Epoch, 'startMs'>): number {
  return Math.round(startMs);
}

/** A track's share of a segment or part. */
export interface Piece {
  /** Service time in ticks of the track: Unix time × timescale. */
  readonly startTicks: number;
  readonly durationTicks: number;
  readonly byteLength: number;
}

/** A segment: the same span of every track. It begins with a key frame in each rendition. */
export interface Segment {
  /** Media sequence number: from 0, one more for each, also across epochs. */
  readonly seq: number;
  readonly epoch: number;
  /** Service time of the first frame of the first rendition, Unix ms. */
  readonly startMs: number;
  /** Of the first rendition, ms; not always whole. */
  readonly durationMs: number;
  /** None: it is a gap. */
  readonly pieces: ReadonlyMap<TrackId, Piece>;
}

/** Whether a segment was lost: of a gap there is only the number and the time. */
export function isGap({ pieces }: Segment): boolean {
  return pieces.size === 0;
}

/** A part of a segment, for low latency: the same span of every track. */
export interface Part {
  /** Place in its segment, from 0. */
  readonly index: number;
  /** Begins with a key frame. */
  readonly isIndependent: boolean;
  readonly pieces: ReadonlyMap<TrackId, Piece>;
}

/** The bytes of a segment or part: `moof` and `mdat` boxes, one or more of each, by track. */
export type TrackBytes = ReadonlyMap<TrackId, Uint8Array>;

/** What can be played of a stream now. Arrays grow in place; look again when `version` rose. */
export interface Presentation {
  /** Rises with every change. */
  readonly version: number;
  /** Those that the segments are of, oldest first. */
  readonly epochs: readonly Epoch[];
  /** Oldest first, without a hole in their numbers; neither the first nor the last is a gap. */
  readonly segments: readonly Segment[];
  /** Parts of the newest segments and of the one being made, by sequence number; empty without low latency. */
  readonly parts: ReadonlyMap<number, readonly Part[]>;
  /** Nothing comes any more. */
  readonly isEnded: boolean;
  /** What a segment is meant to last, ms. */
  readonly segmentMs: number;
  /** What a part is meant to last, ms; null: no low latency. */
  readonly partMs: number | null;
  /** How far behind now a player should be, ms: more than two segments. */
  readonly latencyMs: number;
  /** How far back one can go, ms; null: to the beginning, for a recording. */
  readonly dvrMs: number | null;
}

/** What the origin serves of a stream. */
export interface PlayableStream {
  presentation(): Presentation;
  /** @param epoch its name, here and below */
  init(epoch: number, track: TrackId): Uint8Array | null;
  /** A segment's bytes: in memory, or a slice of a file. */
  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null;
  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null;
  /** Fulfilled when the presentation is newer than this version. */
  waitForChange(version: number): Promise<void>;
}

/** All streams that can be played here. */
export interface PlayableStreams {
  /** @returns null when nothing was ever sent for this stream, or nothing is left */
  find(streamId: string): Promise<PlayableStream | null>;
}
