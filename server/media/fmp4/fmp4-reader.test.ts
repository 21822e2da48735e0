import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  AUDIO_INPUT,
  FRAGMENTED_MP4_OUTPUT,
  probePackets,
  runFfmpeg,
  splitIntoChunks,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { concatBytes } from '../byte-queue.ts';
import { type Fmp4Item, Fmp4Reader } from './fmp4-reader.ts';
import type { Fragment, InitSegment } from './fragment.ts';

const START_S = 1_000;
const OFFSET = ['-frag_duration', '500000', '-output_ts_offset', `${START_S}`];
const OUTPUT = [...OFFSET, ...FRAGMENTED_MP4_OUTPUT];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-bf', '0'];
const video = runFfmpeg([...VIDEO_INPUT, '-t', '3', ...X264, ...OUTPUT]);
const audio = runFfmpeg([...AUDIO_INPUT, '-t', '3', '-c:a', 'aac', ...OUTPUT]);

function read(bytes: Uint8Array, lengths: readonly number[] = [bytes.length]) {
  const reader = new Fmp4Reader();
  const items: Fmp4Item[] = [];
  for (const chunk of splitIntoChunks(bytes, lengths)) items.push(...reader.push(chunk));
  const inits: InitSegment[] = [];
  const fragments: Fragment[] = [];
  for (const item of items) {
    if (item.kind === 'init') inits.push(item.init);
    else fragments.push(item.fragment);
  }
  return { items, inits, fragments };
}

function initOf(bytes: Uint8Array): InitSegment {
  const [init] = read(bytes).inits;
  if (!init) throw new Error('no init segment');
  return init;
}

describe('output of ffmpeg', () => {
  test('[M-12] the reader returns an init segment, then fragments with source times', () => {
    const { items, inits, fragments } = read(video);
    expect(items[0]?.kind).toBe('init');
    expect(inits).toHaveLength(1);
    expect(inits[0]).toMatchObject({ timescale: 15_360, codec: 'avc1.42c00a' });
    expect(fragments.length).toBeGreaterThanOrEqual(6);
    const times = probePackets(video).map(({ pts }) => pts);
    expect(fragments[0]?.startTicks).toBe(START_S * 15_360);
    for (const { startTicks } of fragments) expect(times).toContain(startTicks);
  });

  test('[M-12] video and audio fragments are contiguous', () => {
    for (const bytes of [video, audio]) {
      const { fragments } = read(bytes);
      expect(fragments.length).toBeGreaterThan(4);
      for (const [i, fragment] of fragments.slice(1).entries()) {
        const before = fragments[i] as Fragment;
        expect(fragment.startTicks).toBe(before.startTicks + before.durationTicks);
      }
    }
  });

  test('[M-11] a fragment is a sync point when it starts with a key frame, audio always', () => {
    const keys = probePackets(video).filter(({ isKey }) => isKey);
    const { fragments } = read(video);
    const synced = fragments.filter(({ isSync }) => isSync).map(({ startTicks }) => startTicks);
    expect(synced).toEqual(keys.map(({ pts }) => pts));
    expect(synced.length).toBeLessThan(fragments.length);
    expect(read(audio).fragments.every(({ isSync }) => isSync)).toBe(true);
  });

  test('[M-11] audio is a sync point whatever its sample flags', () => {
    const modified = audio.slice();
    const buffer = Buffer.from(modified.buffer);
    for (const { index } of buffer.toString('latin1').matchAll(/tfhd/g)) {
      buffer.writeUInt32BE(0x0101_0000, index + 24);
    }
    expect(modified).not.toEqual(audio);
    expect(read(modified).fragments.every(({ isSync }) => isSync)).toBe(true);
  });

  test('a fragment with several runs takes the sync flag of the first', () => {
    const { inits, fragments } = read(video);
    const [fragment] = fragments as [Fragment];
    const buffer = Buffer.from(fragment.bytes);
    const trun = buffer.indexOf('trun') - 4;
    const moofEnd = buffer.readUInt32BE(0);
    const again = Buffer.from(buffer.subarray(trun, moofEnd));
    again.writeUInt32BE(0x0101_0000, 20);
    const twice = Buffer.concat([buffer.subarray(0, moofEnd), again, buffer.subarray(moofEnd)]);
    for (const box of [0, buffer.indexOf('traf') - 4]) {
      twice.writeUInt32BE(buffer.readUInt32BE(box) + again.length, box);
    }
    const both = read(concatBytes([(inits[0] as InitSegment).bytes, twice])).fragments;
    expect(both).toMatchObject([
      { durationTicks: 2 * fragment.durationTicks, isSync: true, startTicks: fragment.startTicks },
    ]);
  });

  test('the reader returns all bytes except the trailing index', () => {
    const { inits, fragments } = read(video);
    const bytes = concatBytes([...inits, ...fragments].map((each) => each.bytes));
    expect(bytes).toEqual(video.slice(0, bytes.length));
    const nextType = video.subarray(bytes.length + 4, bytes.length + 8);
    expect(new TextDecoder().decode(nextType)).toBe('mfra');
  });

  test('the reader returns the same items for chunks of any size', () => {
    const expectedItems = read(video).items;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }), (lengths) => {
        expect(read(video, lengths).items).toEqual(expectedItems);
      }),
      { numRuns: 20 },
    );
    expect(read(video, [1]).items).toEqual(expectedItems);
  });

  test('the reader supports negative decode times', () => {
    const early = runFfmpeg([...AUDIO_INPUT, '-t', '1', '-c:a', 'aac', ...FRAGMENTED_MP4_OUTPUT]);
    expect(read(early).fragments[0]?.startTicks).toBe(-1024);
  });
});

describe('codecs (RFC 6381)', () => {
  const codecOf = (...args: string[]) =>
    initOf(runFfmpeg([...args, '-t', '0.4', ...FRAGMENTED_MP4_OUTPUT])).codec;
  const videoCodec = (...args: string[]) =>
    codecOf(...VIDEO_INPUT, '-frag_duration', '200000', ...args);
  const audioCodec = (...args: string[]) => codecOf(...AUDIO_INPUT, ...args);

  test('H.264 has profile and level', () => {
    const high = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-profile:v', 'high', '-level', '3.1'];
    expect(videoCodec(...high)).toBe('avc1.64001f');
  });

  test('H.265 is supported as hvc1 and hev1', () => {
    const parameters = ['-x265-params', 'log-level=none:level=3.1'];
    const x265 = ['-c:v', 'libx265', '-pix_fmt', 'yuv420p', ...parameters];
    expect(videoCodec(...x265, '-tag:v', 'hvc1')).toBe('hvc1.1.6.L93.90');
    expect(videoCodec(...x265, '-tag:v', 'hev1')).toBe('hev1.1.6.L93.90');
  });

  test('VP9 and AV1 have profile, level and depth', () => {
    const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime'];
    expect(videoCodec(...vp9)).toMatch(/^vp09\.0[0-3]\.\d\d\.08$/);
    const fast = ['-cpu-used', '8', '-usage', 'realtime'];
    const av1 = ['-c:v', 'libaom-av1', ...fast, '-pix_fmt', 'yuv420p'];
    expect(videoCodec(...av1)).toMatch(/^av01\.0\.\d\dM\.08$/);
  });

  test('AAC, Opus and MP3 are supported', () => {
    expect(audioCodec('-c:a', 'aac')).toBe('mp4a.40.2');
    expect(audioCodec('-c:a', 'libopus')).toBe('opus');
    expect(audioCodec('-c:a', 'libmp3lame')).toMatch(/^mp4a\.(69|6b)$/);
  });

  test('an unknown codec is an error', () => {
    expect(() => videoCodec('-c:v', 'mpeg4')).toThrow('players do not know');
  });
});

describe('invalid input', () => {
  test('[M-16] random bytes are an error or an incomplete box of limited size', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 4_000 }), (bytes) => {
        expect(errorOf(bytes)).toMatch(/no fragmented MP4|^$/);
      }),
    );
    const http = new TextEncoder().encode('GET / HTTP/1.1\r\n\r\n');
    expect(errorOf(http)).toMatch(/no fragmented MP4/);
  });

  test('[M-16] any changed byte causes at most an Error', () => {
    const metadataBytes = initOf(video).bytes.length + 200;
    for (const [lastByte, numRuns] of [
      [video.length - 1, 300],
      [metadataBytes, 1_000],
    ] as const) {
      fc.assert(
        fc.property(fc.nat(lastByte), fc.nat(255), (at, value) => {
          const broken = video.slice();
          broken[at] = value;
          expect(errorOf(broken)).toBeString();
        }),
        { numRuns },
      );
    }
  });

  test('a fragment before moov, mdat without moof and huge boxes are errors', () => {
    const { inits, fragments } = read(video);
    const [fragment] = fragments as [Fragment];
    expect(errorOf(fragment.bytes)).toContain('before its moov');
    const data = fragment.bytes.subarray(indexOf(fragment.bytes, 'mdat') - 4);
    expect(errorOf(concatBytes([(inits[0] as InitSegment).bytes, data]))).toContain('without moof');
    expect(errorOf(Uint8Array.of(0x10, 0, 0, 0, ...new TextEncoder().encode('mdat')))).not.toBe('');
  });
});

/** The error message for these bytes; empty without an error. */
function errorOf(bytes: Uint8Array): string {
  try {
    read(bytes);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).constructor).toBe(Error);
    return (error as Error).message;
  }
}

function indexOf(bytes: Uint8Array, text: string): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(text);
}
