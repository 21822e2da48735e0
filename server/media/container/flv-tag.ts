/** FLV tag types, equal to RTMP message types (Adobe FLV 10.1, E.4.1). */
export const FLV_AUDIO = 8;
export const FLV_VIDEO = 9;
export const FLV_SCRIPT = 18;

/** Flags of the file header. */
export const FLV_HAS_VIDEO = 1;
export const FLV_HAS_AUDIO = 4;

export const FLV_HEADER_BYTES = 9;
export const FLV_TAG_HEADER_BYTES = 11;
/** Size field of the previous tag, after the file header and after each tag. */
export const FLV_BACK_POINTER_BYTES = 4;

const CODEC_AVC = 7;
const AUDIO_CODEC_AAC = 10;
const SEQUENCE_HEADER = 0;
const CODED_DATA = 1;
const FRAME_TYPE_KEY = 1;
const FRAME_TYPE_COMMAND = 5;

/** Content of a video or audio tag, by the first bytes of its body. */
export interface TagInfo {
  /** Codec configuration, which decoders need first. */
  readonly isSequenceHeader: boolean;
  /** Coded media, as opposed to a header, a command or an end of sequence. */
  readonly isMedia: boolean;
  readonly isKeyFrame: boolean;
  /** Presentation time minus the tag's timestamp, ms. */
  readonly compositionMs: number;
}

const NO_MEDIA: TagInfo = {
  isSequenceHeader: false,
  isMedia: false,
  isKeyFrame: false,
  compositionMs: 0,
};

/** Parses the start of a video tag's body; five bytes are enough. */
export function parseVideoHeader(body: Uint8Array): TagInfo {
  const [first = 0, packet = 0] = body;
  const frameType = first >> 4;
  if (body.length < 2 || frameType === FRAME_TYPE_COMMAND) return NO_MEDIA;
  const isKeyFrame = frameType === FRAME_TYPE_KEY;
  if ((first & 0x0f) !== CODEC_AVC) return { ...NO_MEDIA, isMedia: true, isKeyFrame };
  if (body.length < 5) return NO_MEDIA;
  if (packet === SEQUENCE_HEADER) return { ...NO_MEDIA, isSequenceHeader: true };
  if (packet !== CODED_DATA) return NO_MEDIA;
  const compositionMs = (uint24(body, 2) << 8) >> 8;
  return { isSequenceHeader: false, isMedia: true, isKeyFrame, compositionMs };
}

/** Parses the start of an audio tag's body; two bytes are enough. */
export function parseAudioHeader(body: Uint8Array): TagInfo {
  const [first = 0, packet = 0] = body;
  if (body.length < 2) return NO_MEDIA;
  const isSequenceHeader = first >> 4 === AUDIO_CODEC_AAC && packet === SEQUENCE_HEADER;
  return { ...NO_MEDIA, isSequenceHeader, isMedia: !isSequenceHeader };
}

/** Whether a script tag contains onMetaData. */
export function isMetaData(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.length).indexOf(META_DATA) === 0;
}

// AMF0 string.
const META_DATA = Buffer.from('\x02\x00\x0aonMetaData');

/** Creates an FLV file header. @param flags `FLV_HAS_VIDEO`, `FLV_HAS_AUDIO` */
export function flvHeader(flags: number): Uint8Array {
  return Uint8Array.of(0x46, 0x4c, 0x56, 1, flags, 0, 0, 0, FLV_HEADER_BYTES, 0, 0, 0, 0);
}

/** Creates a tag with its back pointer. @param timestampMs written modulo 2^32 */
export function flvTag(kind: number, timestampMs: number, body: Uint8Array): Uint8Array {
  const end = FLV_TAG_HEADER_BYTES + body.length;
  const tag = new Uint8Array(end + FLV_BACK_POINTER_BYTES);
  const view = new DataView(tag.buffer);
  view.setUint32(0, body.length);
  tag[0] = kind;
  setTimestamp(tag, timestampMs);
  tag.set(body, FLV_TAG_HEADER_BYTES);
  view.setUint32(end, end);
  return tag;
}

export function setTimestamp(tag: Uint8Array, timestampMs: number): void {
  const timestamp = timestampMs >>> 0;
  tag[4] = timestamp >> 16;
  tag[5] = timestamp >> 8;
  tag[6] = timestamp;
  tag[7] = timestamp >>> 24;
}

/** Timestamp of a tag, 0 ≤ ms < 2^32. */
export function timestampOf(tag: Uint8Array): number {
  return (uint24(tag, 4) | ((tag[7] ?? 0) << 24)) >>> 0;
}

/** Reads a big-endian 24-bit unsigned integer. */
export function uint24(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 16) | ((bytes[offset + 1] ?? 0) << 8) | (bytes[offset + 2] ?? 0);
}
