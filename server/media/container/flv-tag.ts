/** Kinds of FLV tags; the same numbers as RTMP's messages (Adobe FLV 10.1, E.4.1). */
export const FLV_AUDIO = 8;
export const FLV_VIDEO = 9;
export const FLV_SCRIPT = 18;

/** Flags of the file header: what is inside. */
export const FLV_HAS_VIDEO = 1;
export const FLV_HAS_AUDIO = 4;

export const FLV_HEADER_BYTES = 9;
export const FLV_TAG_HEADER_BYTES = 11;
/** The size of the tag before, which follows the file header and each tag. */
export const FLV_BACK_POINTER_BYTES = 4;

const CODEC_AVC = 7;
const SOUND_AAC = 10;
const SEQUENCE_HEADER = 0;
const CODED = 1;
const KEY_FRAME = 1;
const COMMAND_FRAME = 5;

/** What the first bytes of a video or sound tag's body say. */
export interface TagContent {
  /** The codec's own header, which decoders need before all else. */
  readonly isSequenceHeader: boolean;
  /** A picture or sound, not a header, a command or the end of a sequence. */
  readonly isMedia: boolean;
  readonly isKeyFrame: boolean;
  /** Presentation time minus the tag's timestamp, ms. */
  readonly compositionMs: number;
}

const NOTHING: TagContent = {
  isSequenceHeader: false,
  isMedia: false,
  isKeyFrame: false,
  compositionMs: 0,
};

/** Reads the beginning of a video tag's body; five bytes are enough. */
export function videoContent(body: Uint8Array): TagContent {
  const [first = 0, packet = 0] = body;
  const frame = first >> 4;
  if (body.length < 2 || frame === COMMAND_FRAME) return NOTHING;
  const isKeyFrame = frame === KEY_FRAME;
  if ((first & 0x0f) !== CODEC_AVC) return { ...NOTHING, isMedia: true, isKeyFrame };
  if (body.length < 5) return NOTHING;
  if (packet === SEQUENCE_HEADER) return { ...NOTHING, isSequenceHeader: true };
  if (packet !== CODED) return NOTHING;
  const compositionMs = (uint24(body, 2) << 8) >> 8;
  return { isSequenceHeader: false, isMedia: true, isKeyFrame, compositionMs };
}

/** Reads the beginning of a sound tag's body; two bytes are enough. */
export function audioContent(body: Uint8Array): TagContent {
  const [first = 0, packet = 0] = body;
  if (body.length < 2) return NOTHING;
  const isSequenceHeader = first >> 4 === SOUND_AAC && packet === SEQUENCE_HEADER;
  return { ...NOTHING, isSequenceHeader, isMedia: !isSequenceHeader };
}

/** Whether a script tag's body is the stream's description. */
export function isMetaData(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.length).indexOf(META_DATA) === 0;
}

// A string of AMF0.
const META_DATA = Buffer.from('\x02\x00\x0aonMetaData');

/** The beginning of an FLV file. @param flags what is inside */
export function flvHeader(flags: number): Uint8Array {
  return Uint8Array.of(0x46, 0x4c, 0x56, 1, flags, 0, 0, 0, FLV_HEADER_BYTES, 0, 0, 0, 0);
}

/** A whole tag, with what follows it. @param timestampMs 32 bits of it are written */
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

/** Gives a tag another timestamp. */
export function setTimestamp(tag: Uint8Array, timestampMs: number): void {
  const timestamp = timestampMs >>> 0;
  tag[4] = timestamp >> 16;
  tag[5] = timestamp >> 8;
  tag[6] = timestamp;
  tag[7] = timestamp >>> 24;
}

/** The timestamp of a tag, 0 ≤ ms < 2^32. */
export function timestampOf(tag: Uint8Array): number {
  return (uint24(tag, 4) | ((tag[7] ?? 0) << 24)) >>> 0;
}

/** 24 bits without a sign, the highest first. */
export function uint24(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}
