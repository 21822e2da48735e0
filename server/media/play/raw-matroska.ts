import { concatBytes } from '../byte-queue.ts';
import { SAMPLE_RATE } from './beep.ts';

const VIDEO_TRACK = 1;
const AUDIO_TRACK = 2;
const TICK_NS = 1_000_000;
// RFC 9559, 5.1.4.1.28: matrix, range, transfer and primaries of BT.709, limited range.
const BT709 = 1;

/**
 * The header of a Matroska stream (RFC 9559) of `yuv420p` frames and 16-bit mono samples.
 * @param frameRate nominal frames per second; frames may be dropped
 */
export function rawHeader(width: number, height: number, frameRate: number): Uint8Array {
  const document = element(0x1a45dfa3, [
    text(0x4282, 'matroska'), // DocType
    unsigned(0x4287, 4), // DocTypeVersion
    unsigned(0x4285, 2), // DocTypeReadVersion
  ]);
  const info = element(0x1549a966, [
    unsigned(0x2ad7b1, TICK_NS),
    text(0x4d80, 'fourbeat'), // MuxingApp
    text(0x5741, 'fourbeat'), // WritingApp
  ]);
  const color = element(
    0x55b0,
    [0x55b1, 0x55b9, 0x55ba, 0x55bb].map((id) => unsigned(id, BT709)),
  );
  const video = element(0xe0, [
    unsigned(0xb0, width),
    unsigned(0xba, height),
    text(0x2eb524, 'I420'), // UncompressedFourCC
    color,
  ]);
  const audio = element(0xe1, [float(0xb5, SAMPLE_RATE), unsigned(0x9f, 1), unsigned(0x6264, 16)]);
  const frameNs = unsigned(0x23e383, Math.round(1e9 / frameRate));
  const tracks = element(0x1654ae6b, [
    track(VIDEO_TRACK, 1, 'V_UNCOMPRESSED', frameNs, video),
    track(AUDIO_TRACK, 2, 'A_PCM/INT/LIT', audio),
  ]);
  // A live segment has unknown size.
  const segment = Uint8Array.of(0x18, 0x53, 0x80, 0x67, 0x01, ...Array<number>(7).fill(0xff));
  return concatBytes([document, segment, info, tracks]);
}

/**
 * A cluster of one frame and its audio.
 * @param videoMs time of the frame since the start of the stream
 * @param audioMs time of the first sample since the start of the stream
 * @returns buffers to write in order; `frame` and `audio` are passed through without a copy
 */
export function rawCluster(
  videoMs: number,
  frame: Uint8Array,
  audioMs: number,
  audio: Uint8Array,
): Uint8Array[] {
  const time = unsigned(0xe7, videoMs);
  const blocks = [
    blockHeader(AUDIO_TRACK, audioMs - videoMs, audio.length),
    audio,
    blockHeader(VIDEO_TRACK, 0, frame.length),
    frame,
  ];
  const size = blocks.reduce((sum, { length }) => sum + length, time.length);
  return [concatBytes([encodeId(0x1f43b675), encodeSize(size), time]), ...blocks];
}

function blockHeader(number: number, relativeMs: number, length: number): Uint8Array {
  const header = new Uint8Array([0x80 | number, 0, 0, 0x80]);
  new DataView(header.buffer).setInt16(1, relativeMs);
  return concatBytes([encodeId(0xa3), encodeSize(header.length + length), header]);
}

function track(number: number, type: number, codec: string, ...settings: Uint8Array[]) {
  return element(0xae, [
    unsigned(0xd7, number),
    unsigned(0x73c5, number), // TrackUID
    unsigned(0x83, type),
    unsigned(0x9c, 0), // FlagLacing
    text(0x86, codec),
    ...settings,
  ]);
}

function element(id: number, children: readonly Uint8Array[]): Uint8Array {
  const size = children.reduce((sum, { length }) => sum + length, 0);
  return concatBytes([encodeId(id), encodeSize(size), ...children]);
}

function unsigned(id: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return element(id, [bytes]);
}

function float(id: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return element(id, [bytes]);
}

function text(id: number, value: string): Uint8Array {
  return element(id, [new TextEncoder().encode(value)]);
}

// An element id encodes its own length in its first bits.
function encodeId(id: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = id; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.from(bytes);
}

// Always eight bytes: the first byte is the length marker.
function encodeSize(size: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(size));
  bytes[0] = 0x01;
  return bytes;
}
