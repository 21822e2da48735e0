import {
  FLV_HAS_AUDIO,
  FLV_HAS_VIDEO,
  flvHeader,
  flvTag,
  isMetaData,
  parseAudioHeader,
  parseVideoHeader,
  timestampOf,
  uint24,
} from '../container/flv-tag.ts';
import { RateMeter } from '../rate-meter.ts';
import { type AmfValue, readAmf, writeAmf } from './amf0.ts';
import { RTMP_LIMITS, type RtmpLimits } from './rtmp-limits.ts';
import {
  AGGREGATE,
  AUDIO,
  DATA,
  DATA_AMF3,
  RtmpError,
  type RtmpMessage,
  VIDEO,
} from './rtmp-message.ts';

/** Audio and video may be slightly out of order; a larger step back is a clock change. */
const MAX_BACKWARD_MS = 10_000;
/** A step forward may exceed the time since the previous message by this much. */
const MAX_FORWARD_MS = 60_000;

/** Stream metadata has a few hundred bytes. */
const MAX_METADATA_BYTES = 64 << 10;

/** A sub-message of an aggregate has the header of an FLV tag. */
const PART_HEADER_BYTES = 11;
const BACK_POINTER_BYTES = 4;

// Codec ids of FLV 10.1 (E.4.3.1), which ffmpeg reads. Later ids have no common standard.
const VIDEO_CODECS = new Set([2, 3, 4, 5, 6, 7, 8, 9]);
const ENHANCED_VIDEO = 0x80;
const ENHANCED_AUDIO = 9;
const CODEC_HEVC = 12;

const SET_DATA_FRAME = Buffer.from(writeAmf(['@setDataFrame']));

/**
 * Converts a source's messages to FLV (Adobe FLV 10.1, annex E). Timestamps start below 2^31, so that
 * no decoder expects a wrap. Of data messages, only stream metadata is passed on, up to a limit.
 */
export class FlvStream {
  private hasHeader = false;
  /** Input timestamp minus output timestamp, ms; null before the first. */
  private offsetMs: number | null = null;
  /** Latest output time, unwrapped, and its arrival time. */
  private latestMs = 0;
  private latestArrivalMs = 0;
  private readonly partRate: RateMeter;
  private readonly metadataRate: RateMeter;

  constructor(limits: Pick<RtmpLimits, 'messagesPerSecond' | 'metadataPerSecond'> = RTMP_LIMITS) {
    this.partRate = new RateMeter(limits.messagesPerSecond);
    this.metadataRate = new RateMeter(limits.metadataPerSecond);
  }

  /**
   * @param nowMs monotonic clock
   * @returns the next bytes of the FLV; empty for an ignored message
   * @throws RtmpError with a message for the sender when the codec or timestamp is unsupported
   */
  convert(message: RtmpMessage, nowMs: number): Uint8Array[] {
    if (message.type === AGGREGATE) {
      return this.splitAggregate(message, nowMs).flatMap((part) => this.convert(part, nowMs));
    }
    if (message.type === DATA || message.type === DATA_AMF3) return this.data(message, nowMs);
    const { payload } = message;
    if (payload.length === 0) return [];
    if (message.type !== AUDIO && message.type !== VIDEO) return [];
    const isVideo = message.type === VIDEO;
    if (isVideo) requireVideoCodec(payload);
    else requireAudioCodec(payload);
    const { isMedia } = isVideo ? parseVideoHeader(payload) : parseAudioHeader(payload);
    const timeMs = isMedia ? this.mediaTime(message.timestampMs, nowMs) : this.latestMs;
    return this.tag(message.type, timeMs, payload, FLV_HAS_VIDEO | FLV_HAS_AUDIO);
  }

  /** Splits an aggregate into its sub-messages (Adobe RTMP 1.0, 7.1.6). */
  private splitAggregate(message: RtmpMessage, nowMs: number): RtmpMessage[] {
    const { payload, streamId, timestampMs } = message;
    const parts: RtmpMessage[] = [];
    let firstMs: number | null = null;
    for (let at = 0; at < payload.length; ) {
      const header = payload.subarray(at, at + PART_HEADER_BYTES);
      const end = at + PART_HEADER_BYTES + uint24(header, 1);
      const [type = AGGREGATE] = header;
      if (this.partRate.exceeds(1, nowMs)) throw new RtmpError('Too many messages per second.');
      if (type === AGGREGATE || end > payload.length)
        throw new RtmpError('an aggregate is malformed');
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

  private data({ type, payload }: RtmpMessage, nowMs: number): Uint8Array[] {
    const amf = type === DATA_AMF3 && payload[0] === 0 ? payload.subarray(1) : payload;
    const hasPrefix = SET_DATA_FRAME.equals(amf.subarray(0, SET_DATA_FRAME.length));
    const body = hasPrefix ? amf.subarray(SET_DATA_FRAME.length) : amf;
    if (!isMetaData(body) || body.length > MAX_METADATA_BYTES) return [];
    if (this.metadataRate.exceeds(1, nowMs)) return [];
    const metadata = parseMetadata(body);
    // Metadata is optional for decoders, but malformed metadata would stop them.
    if (metadata === null || typeof metadata !== 'object') return [];
    // ffmpeg treats metadata with a timestamp other than 0 as subtitles.
    return this.tag(DATA, 0, body, flagsOf(metadata));
  }

  /** @param flags flags of the file header, written before the first tag */
  private tag(kind: number, timeMs: number, body: Uint8Array, flags: number): Uint8Array[] {
    const tag = flvTag(kind, timeMs, body);
    if (this.hasHeader) return [tag];
    this.hasHeader = true;
    return [flvHeader(flags), tag];
  }

  /** Converts a timestamp to output time, unwrapped. */
  private mediaTime(timestampMs: number, nowMs: number): number {
    if (this.offsetMs === null) {
      // From 2^31 on: a long-running clock, or one that starts slightly below 0.
      this.offsetMs = timestampMs >= 2 ** 31 ? timestampMs : 0;
      this.latestMs = timestampMs - this.offsetMs;
      this.latestArrivalMs = nowMs;
      return this.latestMs;
    }
    const stepMs = (timestampMs - this.offsetMs - this.latestMs) | 0;
    if (stepMs < -MAX_BACKWARD_MS || stepMs > MAX_FORWARD_MS + nowMs - this.latestArrivalMs) {
      const seconds = Math.round(stepMs / 1_000);
      throw new RtmpError(`The timestamps jumped by ${seconds} s; restart the encoder.`);
    }
    const timeMs = Math.max(0, this.latestMs + stepMs);
    this.latestMs = Math.max(this.latestMs, timeMs);
    this.latestArrivalMs = nowMs;
    return timeMs;
  }
}

/** Parses metadata; null when it is malformed. */
function parseMetadata(body: Uint8Array): AmfValue {
  try {
    return readAmf(body)[1] ?? null;
  } catch (error) {
    if (error instanceof RtmpError) return null;
    throw error;
  }
}

/** Header flags by the codecs in the metadata, so that decoders do not wait for a missing track. */
function flagsOf(metadata: object): number {
  const hasVideo = 'videocodecid' in metadata;
  const hasAudio = 'audiocodecid' in metadata;
  if (!hasVideo && !hasAudio) return FLV_HAS_VIDEO | FLV_HAS_AUDIO;
  return (hasVideo ? FLV_HAS_VIDEO : 0) | (hasAudio ? FLV_HAS_AUDIO : 0);
}

function requireVideoCodec(payload: Uint8Array): void {
  const [first = 0] = payload;
  if ((first & ENHANCED_VIDEO) !== 0) throw unsupportedCodec(fourCc(payload));
  const codec = first & 0x0f;
  if (!VIDEO_CODECS.has(codec))
    throw unsupportedCodec(codec === CODEC_HEVC ? 'HEVC' : `codec ${codec}`);
}

function requireAudioCodec(payload: Uint8Array): void {
  if ((payload[0] ?? 0) >> 4 === ENHANCED_AUDIO) throw unsupportedCodec(fourCc(payload));
}

/** FourCC of enhanced RTMP, which follows the first byte. */
function fourCc(payload: Uint8Array): string {
  const name = Buffer.from(payload.subarray(1, 5)).toString('latin1');
  return /^[\w-]{4}$/.test(name) ? name : 'enhanced RTMP';
}

function unsupportedCodec(name: string): RtmpError {
  return new RtmpError(`${name} is not supported: set the encoder to H.264 and AAC.`);
}
