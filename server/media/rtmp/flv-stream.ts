import {
  audioContent,
  FLV_HAS_AUDIO,
  FLV_HAS_VIDEO,
  flvHeader,
  flvTag,
  isMetaData,
  timestampOf,
  uint24,
  videoContent,
} from '../container/flv-tag.ts';
import { type AmfValue, readAmf, writeAmf } from './amf0.ts';
import {
  AGGREGATE,
  AUDIO,
  DATA,
  DATA_AMF3,
  RtmpError,
  type RtmpMessage,
  VIDEO,
} from './rtmp-message.ts';

/** Sound and video come a little out of order; what is further back is another clock. */
const BACK_MS_MAX = 10_000;
/** A gap may be as long as the silence before it, and this. */
const AHEAD_MS_MAX = 60_000;

/** A description of a stream is a few hundred bytes. */
const METADATA_BYTES_MAX = 64 << 10;

/** Header of a message within an aggregate: that of an FLV tag. */
const PART_HEADER_BYTES = 11;
const BACK_POINTER_BYTES = 4;

// What FLV 10.1 (E.4.3.1) has, and ffmpeg reads. More came later, each in several spellings.
const VIDEO_CODECS = new Set([2, 3, 4, 5, 6, 7, 8, 9]);
const ENHANCED_VIDEO = 0x80;
const ENHANCED_AUDIO = 9;
const CODEC_HEVC = 12;

/** Of an aggregate: encoders that make them put a few frames together. */
const PARTS_MAX = 1_000;

const SET_DATA_FRAME = Buffer.from(writeAmf(['@setDataFrame']));

/**
 * Makes an FLV of the messages of a source (Adobe FLV 10.1, annex E). Its time begins below 2^31,
 * so that no decoder takes it for one that is about to wrap. Of data, only the description of the
 * stream is kept.
 */
export class FlvStream {
  private hasHeader = false;
  /** What timestamps are, minus what is written. */
  private shiftMs: number | null = null;
  /** The newest time written, wraps undone, and when it came. */
  private newestMs = 0;
  private newestAtMs = 0;

  /**
   * @param nowMs a clock that runs forward
   * @returns the bytes that come next in the FLV; none for what is left out
   * @throws RtmpError with a line for the sender, for what cannot be decoded
   */
  bytes(message: RtmpMessage, nowMs: number): Uint8Array[] {
    if (message.type === AGGREGATE) {
      return partsOf(message).flatMap((part) => this.bytes(part, nowMs));
    }
    if (message.type === DATA || message.type === DATA_AMF3) return this.data(message);
    const { payload } = message;
    if (payload.length === 0) return [];
    if (message.type !== AUDIO && message.type !== VIDEO) return [];
    const isVideo = message.type === VIDEO;
    if (isVideo) refuseOtherVideo(payload);
    else refuseOtherAudio(payload);
    const { isMedia } = isVideo ? videoContent(payload) : audioContent(payload);
    const timeMs = isMedia ? this.mediaTime(message.timestampMs, nowMs) : this.newestMs;
    return this.tag(message.type, timeMs, payload, FLV_HAS_VIDEO | FLV_HAS_AUDIO);
  }

  private data({ type, payload }: RtmpMessage): Uint8Array[] {
    const amf = type === DATA_AMF3 && payload[0] === 0 ? payload.subarray(1) : payload;
    const isSet = SET_DATA_FRAME.equals(amf.subarray(0, SET_DATA_FRAME.length));
    const body = isSet ? amf.subarray(SET_DATA_FRAME.length) : amf;
    if (!isMetaData(body) || body.length > METADATA_BYTES_MAX) return [];
    const description = described(body);
    // A decoder needs none; one that it cannot read would only make it stop.
    if (description === null) return [];
    // ffmpeg takes one with another time than 0 for a subtitle.
    return this.tag(DATA, 0, body, flagsOf(description));
  }

  /** @param flags what the header says, when this is the first tag */
  private tag(kind: number, timeMs: number, body: Uint8Array, flags: number): Uint8Array[] {
    const tag = flvTag(kind, timeMs, body);
    if (this.hasHeader) return [tag];
    this.hasHeader = true;
    return [flvHeader(flags), tag];
  }

  /** What is written for a timestamp, wraps undone. */
  private mediaTime(timestampMs: number, nowMs: number): number {
    if (this.shiftMs === null) {
      // Encoders whose clock began long ago, or that begin a little before 0.
      this.shiftMs = timestampMs >= 2 ** 31 ? timestampMs : 0;
      this.newestMs = timestampMs - this.shiftMs;
      this.newestAtMs = nowMs;
      return this.newestMs;
    }
    const stepMs = (timestampMs - this.shiftMs - this.newestMs) | 0;
    if (stepMs < -BACK_MS_MAX || stepMs > AHEAD_MS_MAX + nowMs - this.newestAtMs) {
      const seconds = Math.round(stepMs / 1_000);
      throw new RtmpError(`The timestamps jumped by ${seconds} s; start the encoder again.`);
    }
    const timeMs = Math.max(0, this.newestMs + stepMs);
    this.newestMs = Math.max(this.newestMs, timeMs);
    this.newestAtMs = nowMs;
    return timeMs;
  }
}

/** The messages within an aggregate (Adobe RTMP 1.0, 7.1.6). */
function partsOf({ payload, streamId, timestampMs }: RtmpMessage): RtmpMessage[] {
  const parts: RtmpMessage[] = [];
  let firstMs: number | null = null;
  for (let at = 0; at < payload.length; ) {
    const header = payload.subarray(at, at + PART_HEADER_BYTES);
    const end = at + PART_HEADER_BYTES + uint24(header, 1);
    const [type = AGGREGATE] = header;
    if (parts.length >= PARTS_MAX) throw new RtmpError('an aggregate has too many parts');
    if (type === AGGREGATE || end > payload.length) throw new RtmpError('an aggregate is broken');
    const partMs = timestampOf(header);
    firstMs ??= partMs;
    parts.push({
      type,
      streamId,
      timestampMs: (timestampMs + partMs - firstMs) >>> 0,
      payload: payload.subarray(at + PART_HEADER_BYTES, end),
    });
    at = end + BACK_POINTER_BYTES;
  }
  return parts;
}

/** The members of a description; null when it cannot be read. */
function described(body: Uint8Array): AmfValue {
  try {
    return readAmf(body)[1] ?? null;
  } catch (error) {
    if (error instanceof RtmpError) return null;
    throw error;
  }
}

/** What a description says is inside: decoders need not look for what is not. */
function flagsOf(description: AmfValue): number {
  const names = new Set(Object.keys(description ?? {}));
  const hasVideo = names.has('videocodecid');
  const hasAudio = names.has('audiocodecid');
  if (!hasVideo && !hasAudio) return FLV_HAS_VIDEO | FLV_HAS_AUDIO;
  return (hasVideo ? FLV_HAS_VIDEO : 0) | (hasAudio ? FLV_HAS_AUDIO : 0);
}

function refuseOtherVideo(payload: Uint8Array): void {
  const [first = 0] = payload;
  if ((first & ENHANCED_VIDEO) !== 0) throw otherCodec(fourCc(payload));
  const codec = first & 0x0f;
  if (!VIDEO_CODECS.has(codec)) throw otherCodec(codec === CODEC_HEVC ? 'HEVC' : `codec ${codec}`);
}

function refuseOtherAudio(payload: Uint8Array): void {
  if ((payload[0] ?? 0) >> 4 === ENHANCED_AUDIO) throw otherCodec(fourCc(payload));
}

/** The codec's name in enhanced RTMP, which follows the first byte. */
function fourCc(payload: Uint8Array): string {
  const name = Buffer.from(payload.subarray(1, 5)).toString('latin1');
  return /^[\w-]{4}$/.test(name) ? name : 'enhanced RTMP';
}

function otherCodec(name: string): RtmpError {
  return new RtmpError(`${name} is not understood: set the encoder to H.264 and AAC.`);
}
