import type { SourceUnit } from '../container/container.ts';
import {
  FLV_AUDIO,
  FLV_TAG_HEADER_BYTES,
  FLV_VIDEO,
  parseVideoHeader,
  setTimestamp,
  timestampOf,
} from '../container/flv-tag.ts';

/** Duration of audio without video after which the video has stopped; senders interleave them. */
const MISSING_MS = 1_000;
/** Time from one repetition to the next. */
const REPEAT_MS = 500;
/** A group of pictures with more frames or bytes is not repeated. */
const FRAMES_MAX = 300;
const BYTES_MAX = 4 << 20;

/**
 * Repeats the last picture while the video of an FLV source is stopped and its audio goes on, as with a
 * phone whose app is in the background. Otherwise no segment would become complete.
 *
 * Sends the last group of pictures again, all at the time that the audio has reached. The decoder shows its last
 * picture, and has the state in which frames without a key frame can follow.
 */
export class FlvPictureFiller {
  /** Video tags since the last key frame; empty when there are too many. */
  private pictures: Uint8Array[] = [];
  private pictureBytes = 0;
  /** Time of the last video tag and of the audio that came before it, ms. */
  private videoMs = 0;
  private audioMsAtVideo: number | null = null;
  private audioMs: number | null = null;
  /** Audio time of the next repetition, ms. */
  private repeatAtMs = 0;

  /** @returns the units, and repeated pictures between them */
  fill(units: readonly SourceUnit[]): SourceUnit[] {
    return units.flatMap((unit) => {
      const { bytes } = unit;
      if (unit.isHeader || unit.sourceMs === null) return [unit];
      if (bytes[0] === FLV_VIDEO) this.addPicture(unit);
      return bytes[0] === FLV_AUDIO ? [unit, ...this.repeat(timestampOf(bytes))] : [unit];
    });
  }

  private addPicture({ bytes }: SourceUnit): void {
    const isKeyFrame = parseVideoHeader(bytes.subarray(FLV_TAG_HEADER_BYTES)).isKeyFrame;
    if (isKeyFrame) this.clear();
    if (!isKeyFrame && this.pictures.length === 0) return;
    this.pictures.push(bytes);
    this.pictureBytes += bytes.length;
    this.videoMs = timestampOf(bytes);
    this.audioMsAtVideo = this.audioMs;
    this.repeatAtMs = (this.audioMs ?? 0) + MISSING_MS;
    if (this.pictures.length > FRAMES_MAX || this.pictureBytes > BYTES_MAX) this.clear();
  }

  private repeat(audioMs: number): SourceUnit[] {
    this.audioMs = audioMs;
    const { audioMsAtVideo } = this;
    if (audioMsAtVideo === null || audioMs < this.repeatAtMs) return [];
    this.repeatAtMs = audioMs + REPEAT_MS;
    const timestampMs = this.videoMs + audioMs - audioMsAtVideo;
    return this.pictures.map((picture, index) => {
      const bytes = picture.slice();
      setTimestamp(bytes, timestampMs);
      return { bytes, isHeader: false, isEntryPoint: index === 0, sourceMs: null };
    });
  }

  private clear(): void {
    this.pictures = [];
    this.pictureBytes = 0;
  }
}
