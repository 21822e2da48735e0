import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import { AUDIO_BITS_PER_S, AUDIO_SAMPLE_RATE } from './ffmpeg-arguments.ts';

/** Samples in an AAC frame. */
const FRAME_TICKS = 1024;
/** A silent stereo frame (ISO/IEC 14496-3, raw_data_block), as ffmpeg encodes it. */
const SILENT_FRAME = [0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c];
/** AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1): AAC-LC, 48 kHz, two channels. */
const AAC_LC_48_STEREO = [0x11, 0x90];

/** The init segment for silence; equivalent to ffmpeg's, so that its audio can follow. */
export function silentInit(): InitSegment {
  return { bytes: initBytes(), timescale: AUDIO_SAMPLE_RATE, codec: 'mp4a.40.2' };
}

/**
 * A fragment of silence, in whole frames of 21 ms.
 * @param startTicks source time, in samples
 */
export function silentFragment(startTicks: number, durationMs: number): Fragment {
  const frames = Math.max(1, Math.round((durationMs * AUDIO_SAMPLE_RATE) / 1000 / FRAME_TICKS));
  return {
    bytes: fragmentBytes(startTicks, frames),
    startTicks,
    durationTicks: frames * FRAME_TICKS,
    isSync: true,
  };
}

// Boxes of ISO/IEC 14496-12, as CMAF (ISO/IEC 23000-19) requires.

function fragmentBytes(startTicks: number, frames: number): Uint8Array {
  const size = SILENT_FRAME.length;
  const moof = (dataOffset: number) =>
    box('moof', [
      ...fullBox('mfhd', 0, 0, u32(0)),
      ...box('traf', [
        // Offsets are from the moof; default duration, size and flags (no sample depends on another).
        ...fullBox('tfhd', 0, 0x02_0038, u32(1, FRAME_TICKS, size, 0x0200_0000)),
        ...fullBox('tfdt', 1, 0, u64(startTicks)),
        ...fullBox('trun', 0, 0x01, u32(frames, dataOffset)),
      ]),
    ]);
  const mdat = box('mdat', Array.from({ length: frames }, () => SILENT_FRAME).flat());
  return Uint8Array.from([...moof(moof(0).length + 8), ...mdat]);
}

function initBytes(): Uint8Array {
  const ftyp = box('ftyp', [...asciiBytes('iso6'), ...u32(512), ...asciiBytes('iso6cmfcmp41')]);
  const moov = box('moov', [
    ...fullBox('mvhd', 0, 0, [
      ...u32(0, 0, 1000, 0, 0x1_0000),
      ...u16(0x100),
      ...zeros(10),
      ...UNITY_MATRIX,
      ...zeros(24),
      ...u32(2),
    ]),
    ...box('trak', [
      ...fullBox('tkhd', 0, 3, [
        ...u32(0, 0, 1, 0, 0, 0, 0),
        ...u16(0, 0, 0x100, 0),
        ...UNITY_MATRIX,
        ...u32(0, 0),
      ]),
      ...box('mdia', [
        // Language "und": undetermined.
        ...fullBox('mdhd', 0, 0, [...u32(0, 0, AUDIO_SAMPLE_RATE, 0), ...u16(0x55c4, 0)]),
        ...fullBox('hdlr', 0, 0, [
          ...u32(0),
          ...asciiBytes('soun'),
          ...zeros(12),
          ...asciiBytes('Sound\0'),
        ]),
        ...box('minf', [
          ...fullBox('smhd', 0, 0, u16(0, 0)),
          ...box('dinf', fullBox('dref', 0, 0, [...u32(1), ...fullBox('url ', 0, 1, [])])),
          ...box('stbl', [
            ...fullBox('stsd', 0, 0, [...u32(1), ...mp4a()]),
            ...fullBox('stts', 0, 0, u32(0)),
            ...fullBox('stsc', 0, 0, u32(0)),
            ...fullBox('stsz', 0, 0, u32(0, 0)),
            ...fullBox('stco', 0, 0, u32(0)),
          ]),
        ]),
      ]),
    ]),
    ...box('mvex', fullBox('trex', 0, 0, u32(1, 1, 0, 0, 0))),
  ]);
  return Uint8Array.from([...ftyp, ...moov]);
}

function mp4a(): number[] {
  const decoderConfig = [
    // MPEG-4 audio, audio stream; buffer size 0; peak and average bit rate.
    ...[0x40, 0x15, 0, 0, 0],
    ...u32(AUDIO_BITS_PER_S, AUDIO_BITS_PER_S),
    ...descriptor(0x05, AAC_LC_48_STEREO),
  ];
  const slConfig = descriptor(0x06, [2]);
  const elementaryStream = [...u16(1), 0, ...descriptor(0x04, decoderConfig), ...slConfig];
  return box('mp4a', [
    ...zeros(6),
    ...u16(1),
    ...zeros(8),
    // Two channels of 16 bits.
    ...u16(2, 16, 0, 0),
    ...u32(AUDIO_SAMPLE_RATE * 0x1_0000),
    ...fullBox('esds', 0, 0, descriptor(0x03, elementaryStream)),
  ]);
}

const UNITY_MATRIX = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

function box(type: string, content: readonly number[]): number[] {
  return [...u32(content.length + 8), ...asciiBytes(type), ...content];
}

function fullBox(type: string, version: number, flags: number, content: number[]): number[] {
  return box(type, [...u32(version * 2 ** 24 + flags), ...content]);
}

function descriptor(tag: number, content: readonly number[]): number[] {
  return [tag, content.length, ...content];
}

function asciiBytes(characters: string): number[] {
  return [...characters].map((character) => character.charCodeAt(0));
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

function u16(...values: number[]): number[] {
  return values.flatMap((value) => [(value >>> 8) & 0xff, value & 0xff]);
}

function u32(...values: number[]): number[] {
  return values.flatMap((value) => u16(Math.floor(value / 2 ** 16) % 2 ** 16, value % 2 ** 16));
}

/** Two's complement below 0. */
function u64(value: number): number[] {
  const low = ((value % 2 ** 32) + 2 ** 32) % 2 ** 32;
  const high = ((Math.floor(value / 2 ** 32) % 2 ** 32) + 2 ** 32) % 2 ** 32;
  return u32(high, low);
}
