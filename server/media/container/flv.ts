import type { ContainerReader, SourceUnit } from './container.ts';
import {
  audioContent,
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
  setTimestamp,
  type TagContent,
  timestampOf,
  uint24,
  videoContent,
} from './flv-tag.ts';

/** A key frame of a source within its bit rate is far below. */
const TAG_BYTES_MAX = 8 << 20;
/** The header has nothing beyond its nine bytes, in all versions there are. */
const HEADER_BYTES_MAX = 64;
/** Room that is kept when everything was read. */
const ROOM_BYTES_MAX = 256 << 10;

const WRAP_MS = 2 ** 32;

/** Reads FLV (Adobe FLV 10.1, annex E), the container of RTMP. One tag is one unit. */
export class FlvReader implements ContainerReader {
  private held = new Uint8Array(4 << 10);
  private heldBytes = 0;
  private isBegun = false;
  private flags = 0;
  private hasVideo = false;
  private readonly headers = new Map<'metadata' | 'video' | 'audio', Uint8Array>();
  /** The newest timestamp, wraps undone; null before the first. */
  private timestampMs: number | null = null;

  push(bytes: Uint8Array): SourceUnit[] {
    this.hold(bytes);
    const units: SourceUnit[] = [];
    let at = 0;
    for (;;) {
      const rest = this.held.subarray(at, this.heldBytes);
      const length = this.isBegun ? tagBytes(rest) : headerBytes(rest);
      if (length === null || rest.length < length) break;
      units.push(this.unit(rest.slice(0, length)));
      at += length;
    }
    this.forget(at);
    return units;
  }

  /**
   * What a decoder is given that begins now. The codecs' headers have the time of the newest tag, so
   * that they do not pull the beginning back to where the source began. The description has 0:
   * ffmpeg takes one that comes later for a subtitle.
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
    if (!this.isBegun) {
      this.isBegun = true;
      this.flags = (bytes[4] ?? 0) & (FLV_HAS_VIDEO | FLV_HAS_AUDIO);
      this.hasVideo = (this.flags & FLV_HAS_VIDEO) !== 0;
      return { bytes, isHeader: true, isJoin: false, sourceMs: null };
    }
    const kind = kindOf(bytes);
    const body = bytes.subarray(FLV_TAG_HEADER_BYTES, bytes.length - FLV_BACK_POINTER_BYTES);
    if (kind === FLV_VIDEO) return this.video(bytes, videoContent(body));
    if (kind === FLV_AUDIO) return this.audio(bytes, audioContent(body));
    const isHeader = kind === FLV_SCRIPT && isMetaData(body);
    if (isHeader) this.headers.set('metadata', bytes);
    return { bytes, isHeader, isJoin: false, sourceMs: null };
  }

  private video(bytes: Uint8Array, content: TagContent): SourceUnit {
    this.hasVideo = true;
    this.flags |= FLV_HAS_VIDEO;
    const isHeader = content.isSequenceHeader;
    if (isHeader) this.headers.set('video', bytes);
    const timestampMs = content.isMedia ? this.unwrap(timestampOf(bytes)) : null;
    const sourceMs = timestampMs === null ? null : timestampMs + content.compositionMs;
    return { bytes, isHeader, isJoin: content.isMedia && content.isKeyFrame, sourceMs };
  }

  private audio(bytes: Uint8Array, content: TagContent): SourceUnit {
    this.flags |= FLV_HAS_AUDIO;
    const isHeader = content.isSequenceHeader;
    if (isHeader) this.headers.set('audio', bytes);
    const sourceMs = content.isMedia ? this.unwrap(timestampOf(bytes)) : null;
    return { bytes, isHeader, isJoin: content.isMedia && !this.hasVideo, sourceMs };
  }

  /** The time nearest to the newest that has these 32 bits. */
  private unwrap(timestampMs: number): number {
    const last = this.timestampMs ?? timestampMs;
    const wraps = Math.round((last - timestampMs) / WRAP_MS);
    this.timestampMs = timestampMs + wraps * WRAP_MS;
    return this.timestampMs;
  }

  private hold(bytes: Uint8Array): void {
    const needed = this.heldBytes + bytes.length;
    if (needed > this.held.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.held.length));
      larger.set(this.held.subarray(0, this.heldBytes));
      this.held = larger;
    }
    this.held.set(bytes, this.heldBytes);
    this.heldBytes = needed;
  }

  private forget(bytes: number): void {
    if (bytes === 0) return;
    const rest = this.held.subarray(bytes, this.heldBytes);
    const isTooLarge = this.held.length > ROOM_BYTES_MAX && rest.length < ROOM_BYTES_MAX;
    if (isTooLarge) this.held = rest.slice();
    else this.held.copyWithin(0, bytes, this.heldBytes);
    this.heldBytes = rest.length;
  }
}

/** The kind of a tag, without the flag that says that it is encrypted. */
function kindOf(tag: Uint8Array): number {
  return (tag[0] ?? 0) & 0x1f;
}

/** How long the file's header is, with what follows it; null while that is not known. */
function headerBytes(bytes: Uint8Array): number | null {
  const isFlv = [0x46, 0x4c, 0x56].every((byte, at) => (bytes[at] ?? byte) === byte);
  if (!isFlv) throw new Error('this is no FLV');
  if (bytes.length < FLV_HEADER_BYTES) return null;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(5);
  if (length < FLV_HEADER_BYTES || length > HEADER_BYTES_MAX) {
    throw new Error('the header of the FLV is broken');
  }
  return length + FLV_BACK_POINTER_BYTES;
}

/** How long a tag is, with what follows it; null while that is not known. */
function tagBytes(bytes: Uint8Array): number | null {
  if (bytes.length === 0) return null;
  if (![FLV_AUDIO, FLV_VIDEO, FLV_SCRIPT].includes(kindOf(bytes))) {
    throw new Error('the FLV is broken: what comes is no tag');
  }
  if (bytes.length < FLV_TAG_HEADER_BYTES) return null;
  const length = uint24(bytes, 1);
  if (length > TAG_BYTES_MAX) throw new Error(`a tag of the FLV is too large: ${length} bytes`);
  return FLV_TAG_HEADER_BYTES + length + FLV_BACK_POINTER_BYTES;
}
