import type { LadderStep } from '../../platform/media-settings.ts';
import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import type { Track, TrackId } from '../segment.ts';
import type { Container } from '../source.ts';

/** What a source is, as far as an encoder must know. */
export interface SourceInfo {
  /** As it is to be shown: turned, and with square pixels. */
  readonly width: number;
  readonly height: number;
  /** Frames a second that the renditions get: the source's own where it has one, 60 at most. */
  readonly frameRate: readonly [frames: number, seconds: number];
  readonly hasAudio: boolean;
  /** Its frames are made of two fields each, which must be put together. */
  readonly isInterlaced?: boolean;
  /** How much of it had to be looked at, ms: an encoder that looks at less misses tracks. */
  readonly analyzeMs?: number;
}

/** How pictures are made smaller and encoded, from the settings. */
export interface EncoderSettings {
  /** The program. */
  readonly ffmpeg: string;
  /** ffmpeg's name of the video encoder, such as `libx264` or `h264_nvenc`. */
  readonly encoder: string;
  readonly preset: string;
  readonly ladder: readonly LadderStep[];
  readonly segmentMs: number;
  /** How long fragments are, ms: one frame, when parts are cut at any. Those of sound, 100 at most. */
  readonly fragmentMs: number;
}

/** One run of an encoder. */
export interface EncoderOptions {
  readonly container: Container;
  readonly source: SourceInfo;
  readonly settings: EncoderSettings;
  /** Source time in ms of the first picture; sound that is missing is made from here on. */
  readonly startMs: number;
}

/** How an encoder keeps up. */
export interface EncoderProgress {
  /** Frames encoded, and those it left out or doubled for an even rate. */
  readonly frames: number;
  readonly dropped: number;
  readonly duplicated: number;
  /** Frames a second, lately. */
  readonly fps: number;
  /** 1: in real time. */
  readonly speed: number;
}

export interface EncoderEvents {
  /** Once, when all tracks have theirs, before any fragment. */
  onInits(tracks: readonly Track[], inits: ReadonlyMap<TrackId, InitSegment>): void;
  onFragment(track: TrackId, fragment: Fragment): void;
  onProgress(progress: EncoderProgress): void;
}

/** How an encoder ended. */
export interface EncoderExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last that it said, at most 20 lines. */
  readonly lastLines: readonly string[];
}

/** A running ffmpeg. */
export interface Encoder {
  readonly pid: number;
  /** @returns false when it wants no more until `drained` */
  write(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
  /** How many bytes wait to be taken. */
  pendingBytes(): number;
  /** No more comes: it encodes what it has and ends. */
  finish(): void;
  kill(): void;
  /** Fulfilled when it has ended and all that it made was told. */
  readonly exited: Promise<EncoderExit>;
  /** CPU time it has used, in seconds; null where the system does not tell. */
  cpuSeconds(): number | null;
}

// After the last byte an encoder has less than a second of work.
const FINISH_TIMEOUT_MS = 5_000;

/** Lets it encode what it has, and no longer than that takes. */
export function finishWithTimeout(encoder: Encoder): void {
  encoder.finish();
  const timeout = setTimeout(() => encoder.kill(), FINISH_TIMEOUT_MS);
  void encoder.exited.then(() => clearTimeout(timeout));
}

export type StartEncoder = (plan: EncoderOptions, events: EncoderEvents) => Encoder;

/** Looks at the beginning of a source. */
export interface Probe {
  write(bytes: Uint8Array): void;
  /** Fulfilled when enough was written. Rejected, with a line for the sender, when it is no video. */
  readonly result: Promise<SourceInfo>;
  kill(): void;
}

export type StartProbe = (container: Container) => Probe;
