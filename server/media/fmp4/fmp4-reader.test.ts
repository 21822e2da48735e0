import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  FRAGMENTED,
  inChunks,
  made,
  PICTURE,
  probed,
  TONE,
} from '../../../test/support/media/made-with-ffmpeg.ts';
import { concatBytes } from '../byte-queue.ts';
import { type Fmp4Item, Fmp4Reader } from './fmp4-reader.ts';
import type { Fragment, InitSegment } from './fragment.ts';

const START_S = 1_000;
const PIECES = ['-frag_duration', '500000', '-output_ts_offset', `${START_S}`];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-bf', '0'];
const video = made([...PICTURE, '-t', '3', ...X264, ...PIECES, ...FRAGMENTED]);
const audio = made([...TONE, '-t', '3', '-c:a', 'aac', ...PIECES, ...FRAGMENTED]);

function read(bytes: Uint8Array, lengths: readonly number[] = [bytes.length]) {
  const reader = new Fmp4Reader();
  const items: Fmp4Item[] = [];
  for (const chunk of inChunks(bytes, lengths)) items.push(...reader.push(chunk));
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

describe('what ffmpeg writes for a track', () => {
  test('[M-12] is an init segment, then fragments whose times are those of the source', () => {
    const { items, inits, fragments } = read(video);
    expect(items[0]?.kind).toBe('init');
    expect(inits).toHaveLength(1);
    expect(inits[0]).toMatchObject({ timescale: 15_360, codec: 'avc1.42c00a' });
    expect(fragments.length).toBeGreaterThanOrEqual(6);
    const times = probed(video).map(({ pts }) => pts);
    expect(fragments[0]?.startTicks).toBe(START_S * 15_360);
    for (const { startTicks } of fragments) expect(times).toContain(startTicks);
  });

  test('[M-12] fragments follow each other without a gap, in picture and sound', () => {
    for (const bytes of [video, audio]) {
      const { fragments } = read(bytes);
      expect(fragments.length).toBeGreaterThan(4);
      for (const [i, fragment] of fragments.slice(1).entries()) {
        const before = fragments[i] as Fragment;
        expect(fragment.startTicks).toBe(before.startTicks + before.durationTicks);
      }
    }
  });

  test('[M-11] a fragment is in sync where its first frame is a key frame; sound always is', () => {
    const keys = probed(video).filter(({ isKey }) => isKey);
    const { fragments } = read(video);
    const synced = fragments.filter(({ isSync }) => isSync).map(({ startTicks }) => startTicks);
    expect(synced).toEqual(keys.map(({ pts }) => pts));
    expect(synced.length).toBeLessThan(fragments.length);
    expect(read(audio).fragments.every(({ isSync }) => isSync)).toBe(true);
  });

  test('[M-11] sound is in sync even where its encoder says nothing of it', () => {
    const unsaid = audio.slice();
    const buffer = Buffer.from(unsaid.buffer);
    for (let at = buffer.indexOf('tfhd'); at >= 0; at = buffer.indexOf('tfhd', at + 4)) {
      buffer.writeUInt32BE(0x0101_0000, at + 24);
    }
    expect(unsaid).not.toEqual(audio);
    expect(read(unsaid).fragments.every(({ isSync }) => isSync)).toBe(true);
  });

  test('a fragment may have several runs of samples: the first says how it begins', () => {
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

  test('all of it but the index at the end is passed on', () => {
    const { inits, fragments } = read(video);
    const bytes = concatBytes([...inits, ...fragments].map((one) => one.bytes));
    expect(bytes).toEqual(video.slice(0, bytes.length));
    expect(new TextDecoder().decode(video.subarray(bytes.length + 4, bytes.length + 8))).toBe(
      'mfra',
    );
  });

  test('is read the same however it is cut', () => {
    const whole = read(video).items;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }), (lengths) => {
        expect(read(video, lengths).items).toEqual(whole);
      }),
      { numRuns: 20 },
    );
    expect(read(video, [1]).items).toEqual(whole);
  });

  test('a time before 0 is one', () => {
    const early = made([...TONE, '-t', '1', '-c:a', 'aac', ...FRAGMENTED]);
    expect(read(early).fragments[0]?.startTicks).toBe(-1024);
  });
});

describe('codecs (RFC 6381)', () => {
  const picture = (...args: string[]) =>
    initOf(made([...PICTURE, '-t', '0.4', '-frag_duration', '200000', ...args, ...FRAGMENTED]))
      .codec;
  const sound = (...args: string[]) =>
    initOf(made([...TONE, '-t', '0.4', ...args, ...FRAGMENTED])).codec;

  test('of H.264, by profile and level', () => {
    const high = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-profile:v', 'high', '-level', '3.1'];
    expect(picture(...high)).toBe('avc1.64001f');
  });

  test('of H.265, under both of its names', () => {
    const x265 = [
      '-c:v',
      'libx265',
      '-pix_fmt',
      'yuv420p',
      '-x265-params',
      'log-level=none:level=3.1',
    ];
    expect(picture(...x265, '-tag:v', 'hvc1')).toBe('hvc1.1.6.L93.90');
    expect(picture(...x265, '-tag:v', 'hev1')).toBe('hev1.1.6.L93.90');
  });

  test('of VP9 and AV1', () => {
    expect(picture('-c:v', 'libvpx-vp9', '-deadline', 'realtime')).toMatch(
      /^vp09\.0[0-3]\.\d\d\.08$/,
    );
    const av1 = [
      '-c:v',
      'libaom-av1',
      '-cpu-used',
      '8',
      '-usage',
      'realtime',
      '-pix_fmt',
      'yuv420p',
    ];
    expect(picture(...av1)).toMatch(/^av01\.0\.\d\dM\.08$/);
  });

  test('of AAC, Opus and MP3', () => {
    expect(sound('-c:a', 'aac')).toBe('mp4a.40.2');
    expect(sound('-c:a', 'libopus')).toBe('opus');
    expect(sound('-c:a', 'libmp3lame')).toMatch(/^mp4a\.(69|6b)$/);
  });

  test('one that no player knows is an error', () => {
    expect(() => picture('-c:v', 'mpeg4')).toThrow('players do not know');
  });
});

describe('what is no fragmented MP4', () => {
  test('[M-16] random bytes are an error within 8 bytes, or wait for a bounded box', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 4_000 }), (bytes) => {
        expect(refusal(bytes)).toMatch(/no fragmented MP4|^$/);
      }),
    );
    expect(refusal(new TextEncoder().encode('GET / HTTP/1.1\r\n\r\n'))).toMatch(
      /no fragmented MP4/,
    );
  });

  test('[M-16] any byte of a real one may be wrong: an Error at most', () => {
    fc.assert(
      fc.property(fc.nat(video.length - 1), fc.nat(255), (at, value) => {
        const broken = video.slice();
        broken[at] = value;
        expect(refusal(broken)).toBeString();
      }),
      { numRuns: 300 },
    );
    const meta = initOf(video).bytes.length + 200;
    fc.assert(
      fc.property(fc.nat(meta), fc.nat(255), (at, value) => {
        const broken = video.slice();
        broken[at] = value;
        expect(refusal(broken)).toBeString();
      }),
      { numRuns: 1_000 },
    );
  });

  test('fragments before any moov, data without moof, and huge boxes', () => {
    const { inits, fragments } = read(video);
    const [fragment] = fragments as [Fragment];
    expect(refusal(fragment.bytes)).toContain('before its moov');
    const data = fragment.bytes.subarray(indexOf(fragment.bytes, 'mdat') - 4);
    expect(refusal(concatBytes([(inits[0] as InitSegment).bytes, data]))).toContain('without moof');
    expect(refusal(Uint8Array.of(0x10, 0, 0, 0, ...new TextEncoder().encode('mdat')))).not.toBe('');
  });
});

/** What is said of these bytes; empty when nothing is. */
function refusal(bytes: Uint8Array): string {
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
