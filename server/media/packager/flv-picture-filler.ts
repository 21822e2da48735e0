import type { SourceUnit } from '../container/container.ts';
import {
  FLV_AUDIO,
  FLV_TAG_HEADER_BYTES,
  FLV_VIDEO,
  parseVideoHeader,
  setTimestamp,
  timestampOf,
} from '../container/flv-tag.ts';
import {
  GROUP_BYTES_MAX,
  MISSING_MS,
  type PictureFiller,
  REPEAT_MS,
  type RepetitionLimit,
} from './picture-filler.ts';

/** Of a group with more pictures the key frame alone is repeated. */
const FRAMES_MAX = 300;

/** Repeats the last group of pictures of an FLV source. */
export class FlvPictureFiller implements PictureFiller {
  /** Video tags since the last key frame. */
  private pictures: Uint8Array[] = [];
  /** Whether there are too many: the first one is kept. */
  private isKeyFrameAlone = false;
  private pictureBytes = 0;
  /** Time of the last video tag and of the audio that came before it, ms. */
  private videoMs = 0;
  private audioMsAtVideo: number | null = null;
  private audioMs: number | null = null;
  /** Audio time of the next repetition, ms. */
  private repeatAtMs = 0;

  constructor(private readonly mayRepeat: RepetitionLimit) {}

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
    this.videoMs = timestampOf(bytes);
    this.audioMsAtVideo = this.audioMs;
    this.repeatAtMs = (this.audioMs ?? 0) + MISSING_MS;
    if (this.isKeyFrameAlone) return;
    this.pictures.push(bytes);
    this.pictureBytes += bytes.length;
    if (this.pictures.length <= FRAMES_MAX && this.pictureBytes <= GROUP_BYTES_MAX) return;
    this.isKeyFrameAlone = true;
    this.pictures = this.pictures.slice(0, 1).filter(({ length }) => length <= GROUP_BYTES_MAX);
  }

  private repeat(audioMs: number): SourceUnit[] {
    this.audioMs = audioMs;
    const { audioMsAtVideo } = this;
    if (audioMsAtVideo === null || this.pictures.length === 0) return [];
    if (audioMs < this.repeatAtMs || !this.mayRepeat()) return [];
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
    this.isKeyFrameAlone = false;
  }
}
