import { ByteQueue } from '../byte-queue.ts';
import type { ContainerReader, SourceUnit } from './container.ts';
import {
  FLV_AUDIO,
  FLV_BACK_POINTER_BYTES,
  FLV_HAS_AUDIO,
  FLV_HAS_VIDEO,
  FLV_HEADER_BYTES,
  FLV_SCRIPT,
  FLV_TAG_HEADER_BYTES,
  FLV_VIDEO,
  flvHeader,
  isMetaData,
  parseAudioHeader,
  parseVideoHeader,
  setTimestamp,
  type TagInfo,
  timestampOf,
  uint24,
} from './flv-tag.ts';
import { type MediaKind, ReceivedMedia } from './received-media.ts';

/** Key frames of usual sources are far smaller. */
const MAX_TAG_BYTES = 8 << 20;
/** All existing versions have a nine-byte header. */
const MAX_HEADER_BYTES = 64;

const WRAP_MS = 2 ** 32;

/** Reads FLV (Adobe FLV 10.1, annex E), the container of RTMP. Each tag is a unit. */
export class FlvReader implements ContainerReader {
  private readonly queue = new ByteQueue();
  private hasFileHeader = false;
  /** As in the file header: the kinds of tags that were announced or received. */
  private flags = 0;
  private readonly headers = new Map<'metadata' | 'video' | 'audio', Uint8Array>();
  readonly received = new ReceivedMedia();
  /** Latest timestamp, unwrapped; null before the first. */
  private timestampMs: number | null = null;

  push(bytes: Uint8Array): SourceUnit[] {
    this.queue.push(bytes);
    const units: SourceUnit[] = [];
    for (;;) {
      const buffered = this.queue.peek();
      const length = this.hasFileHeader ? tagLength(buffered) : fileHeaderLength(buffered);
      if (length === null || buffered.length < length) return units;
      units.push(this.unit(this.queue.take(length)));
    }
  }

  /**
   * Headers for a decoder that starts now. Codec headers get the time of the latest tag; with their
   * original time, the decoder's timeline would start there. Metadata gets time 0: ffmpeg treats
   * later metadata as subtitles.
   */
  header(): Uint8Array {
    const timestampMs = this.timestampMs ?? 0;
    const tags = (['metadata', 'video', 'audio'] as const).flatMap((name) => {
      const tag = this.headers.get(name);
      if (tag === undefined) return [];
      const copy = tag.slice();
      setTimestamp(copy, name === 'metadata' ? 0 : timestampMs);
      return [copy];
    });
    return Buffer.concat([flvHeader(this.flags), ...tags]);
  }

  private unit(bytes: Uint8Array): SourceUnit {
    if (!this.hasFileHeader) {
      this.hasFileHeader = true;
      this.flags = (bytes[4] ?? 0) & (FLV_HAS_VIDEO | FLV_HAS_AUDIO);
      return { bytes, isHeader: true, isEntryPoint: false, sourceMs: null };
    }
    const tagType = tagTypeOf(bytes);
    const body = bytes.subarray(FLV_TAG_HEADER_BYTES, bytes.length - FLV_BACK_POINTER_BYTES);
    if (tagType === FLV_VIDEO) return this.mediaUnit('video', bytes, parseVideoHeader(body));
    if (tagType === FLV_AUDIO) return this.mediaUnit('audio', bytes, parseAudioHeader(body));
    const isHeader = tagType === FLV_SCRIPT && isMetaData(body);
    if (isHeader) this.headers.set('metadata', bytes);
    return { bytes, isHeader, isEntryPoint: false, sourceMs: null };
  }

  private mediaUnit(kind: MediaKind, bytes: Uint8Array, info: TagInfo): SourceUnit {
    const { isSequenceHeader, isMedia, isKeyFrame, compositionMs } = info;
    this.flags |= kind === 'video' ? FLV_HAS_VIDEO : FLV_HAS_AUDIO;
    if (isSequenceHeader) this.headers.set(kind, bytes);
    if (isMedia) this.received.add(kind);
    const hasVideo = (this.flags & FLV_HAS_VIDEO) !== 0;
    return {
      bytes,
      isHeader: isSequenceHeader,
      isEntryPoint: isMedia && (isKeyFrame || !hasVideo),
      sourceMs: isMedia ? this.unwrap(timestampOf(bytes)) + compositionMs : null,
    };
  }

  /** The time nearest to the latest one whose low 32 bits are `timestampMs`. */
  private unwrap(timestampMs: number): number {
    const last = this.timestampMs ?? timestampMs;
    const wraps = Math.round((last - timestampMs) / WRAP_MS);
    this.timestampMs = timestampMs + wraps * WRAP_MS;
    return this.timestampMs;
  }
}

/** Type of a tag, without the encryption flag. */
function tagTypeOf(tag: Uint8Array): number {
  return (tag[0] ?? 0) & 0x1f;
}

/** Length of the file header including its back pointer; null while unknown. */
function fileHeaderLength(bytes: Uint8Array): number | null {
  const isFlv = [0x46, 0x4c, 0x56].every((byte, offset) => (bytes[offset] ?? byte) === byte);
  if (!isFlv) throw new Error('this is not FLV');
  if (bytes.length < FLV_HEADER_BYTES) return null;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(5);
  if (length < FLV_HEADER_BYTES || length > MAX_HEADER_BYTES) {
    throw new Error('the FLV header is malformed');
  }
  return length + FLV_BACK_POINTER_BYTES;
}

/** Length of a tag including its back pointer; null while unknown. */
function tagLength(bytes: Uint8Array): number | null {
  if (bytes.length === 0) return null;
  if (![FLV_AUDIO, FLV_VIDEO, FLV_SCRIPT].includes(tagTypeOf(bytes))) {
    throw new Error('the FLV is malformed: unknown tag type');
  }
  if (bytes.length < FLV_TAG_HEADER_BYTES) return null;
  const length = uint24(bytes, 1);
  if (length > MAX_TAG_BYTES) throw new Error(`an FLV tag is too large: ${length} bytes`);
  return FLV_TAG_HEADER_BYTES + length + FLV_BACK_POINTER_BYTES;
}
