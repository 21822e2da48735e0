import type { RenditionSetting } from '../../platform/media-settings.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import type { Track, TrackId } from '../segment.ts';
import type { Container } from '../source.ts';

/** The properties of a source that an encoder needs. */
export interface SourceInfo {
  /** Display size: rotated, and with square pixels. */
  readonly width: number;
  readonly height: number;
  /** Frame rate of the renditions: that of the source if it has a constant one, 60 at most. */
  readonly frameRate: readonly [frames: number, seconds: number];
  readonly hasAudio: boolean;
  /** Frames consist of two fields, which must be deinterlaced. */
  readonly isInterlaced?: boolean;
  /** Analyzed duration, ms: an encoder that analyzes less misses tracks. */
  readonly analyzeMs?: number;
}

/** How video is scaled and encoded, from the settings. */
export interface EncoderSettings {
  /** Name or path of the program. */
  readonly ffmpeg: string;
  /** ffmpeg's name of the video encoder, such as `libx264` or `h264_nvenc`. */
  readonly encoder: string;
  readonly preset: string;
  readonly ladder: readonly RenditionSetting[];
  readonly segmentMs: number;
  /** Duration of fragments, ms; one frame for low latency. Audio fragments last 100 ms at most. */
  readonly fragmentMs: number;
}

export interface EncoderOptions {
  readonly container: Container;
  readonly source: SourceInfo;
  readonly settings: EncoderSettings;
  /** Source time of the first frame, ms; missing audio is filled from here on. */
  readonly startMs: number;
}

export interface EncoderProgress {
  /** Encoded frames, and those dropped or duplicated for a constant rate. */
  readonly frames: number;
  readonly dropped: number;
  readonly duplicated: number;
  /** Frames a second since the last report. */
  readonly fps: number;
  /** 1 is real time. */
  readonly speed: number;
}

export interface EncoderEvents {
  /** Called once, when all tracks have an init segment, before any fragment. */
  onInits(tracks: readonly Track[], inits: ReadonlyMap<TrackId, InitSegment>): void;
  onFragment(track: TrackId, fragment: Fragment): void;
  onProgress(progress: EncoderProgress): void;
  /** Called when silence begins to replace the audio of the source, and when its audio returns. */
  onAudioMissing(isMissing: boolean): void;
}

/** How an encoder ended. */
export interface EncoderExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines of its log, 20 at most. */
  readonly lastLines: readonly string[];
}

export interface Encoder {
  readonly pid: number;
  /** @returns false to apply back pressure until `drained` */
  write(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
  /** Number of bytes queued for its input. */
  pendingBytes(): number;
  /** Ends the input: the encoder encodes what it has received and exits. */
  finish(): void;
  kill(): void;
  /** Resolves when the encoder has exited and all its output was emitted. */
  readonly exited: Promise<EncoderExit>;
  /** Used CPU time, s; null where the system does not provide it. */
  cpuSeconds(): number | null;
}

// After the last byte an encoder needs less than a second.
const FINISH_TIMEOUT_MS = 5_000;

/** Ends the input, and kills the encoder if it does not exit in time. */
export function finishWithTimeout(encoder: Encoder): void {
  encoder.finish();
  const timeout = runtime.setTimeout(() => encoder.kill(), FINISH_TIMEOUT_MS);
  const clear = () => runtime.clearTimer(timeout);
  encoder.exited.then(clear, clear);
}

export type StartEncoder = (options: EncoderOptions, events: EncoderEvents) => Encoder;

/** Analyzes the beginning of a source. */
export interface Probe {
  write(bytes: Uint8Array): void;
  /** Resolves when enough was analyzed. Rejects with a message for the sender when it is no video. */
  readonly result: Promise<SourceInfo>;
  kill(): void;
}

export type StartProbe = (container: Container) => Probe;
