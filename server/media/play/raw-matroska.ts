import { joined } from '../byte-queue.ts';

/** What is in a stream of raw pictures and sound. */
export interface RawFormat {
  readonly width: number;
  readonly height: number;
  /** Frames a second; frames may be left out. */
  readonly frameRate: number;
  /** Samples a second, of one channel. */
  readonly sampleRate: number;
}

const VIDEO_TRACK = 1;
const AUDIO_TRACK = 2;
const TICK_NS = 1_000_000;
// RFC 9559, 5.1.4.1.28: matrix, range, transfer and primaries of BT.709, limited range.
const BT709 = 1;

/** The beginning of a Matroska stream (RFC 9559) of `yuv420p` pictures and 16-bit samples. */
export function rawHeader({ width, height, frameRate, sampleRate }: RawFormat): Uint8Array {
  const document = element(0x1a45dfa3, [
    text(0x4282, 'matroska'),
    unsigned(0x4287, 4),
    unsigned(0x4285, 2),
  ]);
  const info = element(0x1549a966, [
    unsigned(0x2ad7b1, TICK_NS),
    text(0x4d80, 'fourbeat'),
    text(0x5741, 'fourbeat'),
  ]);
  const colour = element(
    0x55b0,
    [0x55b1, 0x55b9, 0x55ba, 0x55bb].map((id) => unsigned(id, BT709)),
  );
  const video = element(0xe0, [
    unsigned(0xb0, width),
    unsigned(0xba, height),
    text(0x2eb524, 'I420'),
    colour,
  ]);
  const audio = element(0xe1, [float(0xb5, sampleRate), unsigned(0x9f, 1), unsigned(0x6264, 16)]);
  const tracks = element(0x1654ae6b, [
    track(VIDEO_TRACK, 1, 'V_UNCOMPRESSED', Math.round(1e9 / frameRate), video),
    track(AUDIO_TRACK, 2, 'A_PCM/INT/LIT', null, audio),
  ]);
  // A segment of unknown size: it is live.
  const segment = Uint8Array.of(0x18, 0x53, 0x80, 0x67, 0x01, ...Array<number>(7).fill(0xff));
  return joined([document, segment, info, tracks]);
}

/**
 * A cluster of one picture, and the sound that comes with it.
 * @param videoMs time of the picture since the beginning
 * @param audioMs time of the first sample
 * @returns pieces to write one after the other; the picture and the sound themselves are among them
 */
export function rawCluster(
  videoMs: number,
  picture: Uint8Array,
  audioMs: number,
  sound: Uint8Array,
): Uint8Array[] {
  const time = unsigned(0xe7, videoMs);
  const heads = [
    ...(sound.length === 0 ? [] : [blockHead(AUDIO_TRACK, audioMs - videoMs, sound.length)]),
    blockHead(VIDEO_TRACK, 0, picture.length),
  ];
  const bodies = sound.length === 0 ? [picture] : [sound, picture];
  const blocks = heads.flatMap((head, place) => [head, bodies[place] ?? picture]);
  const size = blocks.reduce((sum, { length }) => sum + length, time.length);
  return [joined([idOf(0x1f43b675), sizeOf(size), time]), ...blocks];
}

function blockHead(number: number, relativeMs: number, length: number): Uint8Array {
  const head = new Uint8Array([0x80 | number, 0, 0, 0x80]);
  new DataView(head.buffer).setInt16(1, relativeMs);
  return joined([idOf(0xa3), sizeOf(head.length + length), head]);
}

function track(
  number: number,
  type: number,
  codec: string,
  durationNs: number | null,
  settings: Uint8Array,
): Uint8Array {
  return element(0xae, [
    unsigned(0xd7, number),
    unsigned(0x73c5, number),
    unsigned(0x83, type),
    unsigned(0x9c, 0),
    text(0x86, codec),
    ...(durationNs === null ? [] : [unsigned(0x23e383, durationNs)]),
    settings,
  ]);
}

function element(id: number, children: readonly Uint8Array[]): Uint8Array {
  const size = children.reduce((sum, { length }) => sum + length, 0);
  return joined([idOf(id), sizeOf(size), ...children]);
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

// An id carries its own length in its first bits.
function idOf(id: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = id; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.from(bytes);
}

// Always eight bytes, of which the first says so.
function sizeOf(size: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(size));
  bytes[0] = 0x01;
  return bytes;
}
