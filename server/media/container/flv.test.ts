import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  probePackets,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import type { SourceUnit } from './container.ts';
import { FlvReader } from './flv.ts';
import {
  FLV_AUDIO,
  FLV_SCRIPT,
  FLV_VIDEO,
  flvHeader,
  flvTag,
  setTimestamp,
  timestampOf,
} from './flv-tag.ts';

const METADATA = Buffer.from('\x02\x00\x0aonMetaData\x03\x00\x00\x09', 'latin1');
const AVC_HEADER = Uint8Array.of(0x17, 0, 0, 0, 0, 1, 2, 3);
const AAC_HEADER = Uint8Array.of(0xaf, 0, 0x12, 0x10);
const AAC = Uint8Array.of(0xaf, 1, 9, 9);

function videoBody(isKey: boolean, compositionMs = 0): Uint8Array {
  const [high, middle, low] = [compositionMs >> 16, compositionMs >> 8, compositionMs];
  return Uint8Array.of(isKey ? 0x17 : 0x27, 1, high, middle, low, 0, 0, 0, 0);
}

function flv(...tags: Uint8Array[]): Uint8Array {
  return Buffer.concat([flvHeader(5), ...tags]);
}

function read(bytes: Uint8Array): SourceUnit[] {
  return new FlvReader().push(bytes);
}

const SAMPLE = flv(
  flvTag(FLV_SCRIPT, 0, METADATA),
  flvTag(FLV_VIDEO, 0, AVC_HEADER),
  flvTag(FLV_AUDIO, 0, AAC_HEADER),
  flvTag(FLV_VIDEO, 0, videoBody(true, 66)),
  flvTag(FLV_AUDIO, 5, AAC),
  flvTag(FLV_VIDEO, 33, videoBody(false)),
  flvTag(FLV_VIDEO, 66, videoBody(false, -20)),
  flvTag(FLV_VIDEO, 99, Uint8Array.of(0x17, 2, 0, 0, 0)),
);

test('FLV tags become units with their properties and times', () => {
  const properties = read(SAMPLE).map(({ isHeader, isEntryPoint, sourceMs }) => [
    isHeader,
    isEntryPoint,
    sourceMs,
  ]);
  expect(properties).toEqual([
    [true, false, null],
    [true, false, null],
    [true, false, null],
    [true, false, null],
    [false, true, 66],
    [false, false, 5],
    [false, false, 33],
    [false, false, 46],
    [false, false, null],
  ]);
});

test('FLV units contain all bytes and do not depend on chunk sizes', () => {
  const expectedUnits = read(SAMPLE);
  expect(Buffer.concat(expectedUnits.map(({ bytes }) => bytes)).equals(SAMPLE)).toBe(true);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (lengths) => {
      const reader = new FlvReader();
      const units: SourceUnit[] = [];
      let at = 0;
      for (const length of [...lengths, SAMPLE.length]) {
        units.push(...reader.push(SAMPLE.subarray(at, at + length)));
        at += length;
      }
      expect(units).toEqual(expectedUnits);
    }),
  );
});

test('without video, every FLV audio tag is an entry point', () => {
  const audioTags = [flvTag(FLV_AUDIO, 0, AAC_HEADER), flvTag(FLV_AUDIO, 7, AAC)];
  const entryPoints = (flags: number) =>
    read(Buffer.concat([flvHeader(flags), ...audioTags])).map(({ isEntryPoint }) => isEntryPoint);
  expect(entryPoints(4)).toEqual([false, false, true]);
  expect(entryPoints(5)).toEqual([false, false, false]);
});

test('header() has the latest headers, with the time of the latest tag', () => {
  const reader = new FlvReader();
  const newer = Uint8Array.of(0x17, 0, 0, 0, 0, 4, 5, 6);
  reader.push(SAMPLE);
  reader.push(flvTag(FLV_VIDEO, 60_000, newer));
  reader.push(flvTag(FLV_VIDEO, 60_000, videoBody(true)));
  const expected = flv(
    flvTag(FLV_SCRIPT, 0, METADATA),
    flvTag(FLV_VIDEO, 60_000, newer),
    flvTag(FLV_AUDIO, 60_000, AAC_HEADER),
  );
  expect(Buffer.from(reader.header()).equals(expected)).toBe(true);
});

test('FLV timestamps are unwrapped', () => {
  const times = [2 ** 32 - 40, 2 ** 32 - 10, 20, 5, 2 ** 32 - 1, 2 ** 30, 2 ** 31, 3 * 2 ** 30, 7];
  const tags = times.map((timeMs) => flvTag(FLV_VIDEO, timeMs, videoBody(false)));
  const units = read(flv(...tags)).slice(1);
  const wrapMs = 2 ** 32;
  expect(units.map(({ sourceMs }) => sourceMs)).toEqual([
    wrapMs - 40,
    wrapMs - 10,
    wrapMs + 20,
    wrapMs + 5,
    wrapMs - 1,
    wrapMs + 2 ** 30,
    wrapMs + 2 ** 31,
    wrapMs + 3 * 2 ** 30,
    2 * wrapMs + 7,
  ]);
});

describe('[M-16] malformed FLV', () => {
  test.each([
    ['not FLV', Buffer.from('GET / HTTP/1.1')],
    ['header is malformed', Uint8Array.of(0x46, 0x4c, 0x56, 1, 5, 0, 1, 0, 9)],
    ['unknown tag type', Buffer.concat([flvHeader(5), Uint8Array.of(77)])],
    ['too large', Buffer.concat([flvHeader(5), Uint8Array.of(9, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0)])],
  ])('malformed FLV is rejected with an error: %s', (message, bytes) => {
    expect(() => read(bytes)).toThrow(message);
  });

  test('malformed FLV never causes another error or a large buffer', () => {
    const withHeader = fc.boolean();
    fc.assert(
      fc.property(withHeader, fc.array(fc.uint8Array({ maxLength: 60 })), (hasHeader, chunks) => {
        const reader = new FlvReader();
        if (hasHeader) reader.push(flvHeader(5));
        try {
          for (const chunk of chunks) reader.push(chunk);
        } catch (error) {
          expect((error as Error).message).toMatch(/FLV/);
        }
      }),
    );
  });
});

describe('with ffmpeg', () => {
  const inputs = [...VIDEO_INPUT, ...AUDIO_INPUT, '-t', '6'];
  const file = runFfmpeg([...inputs, ...H264_ENCODER, '-c:a', 'aac', '-f', 'flv']);
  const timesOf = (bytes: Uint8Array) => read(bytes).flatMap(({ sourceMs }) => sourceMs ?? []);
  const packetTimesOf = (bytes: Uint8Array) => probePackets(bytes).map(({ pts }) => pts);

  test('[M-12] source times equal those of ffmpeg', () => {
    const times = timesOf(file);
    expect(times.length).toBeGreaterThan(200);
    expect(times).toEqual(packetTimesOf(file));
  });

  test('[M-12] source times over a wrap equal those of ffmpeg', () => {
    const [header, ...tags] = read(file).map(({ bytes }) => bytes);
    // ffmpeg treats a start in the last minute before a wrap as negative, so start earlier.
    const shifted = tags.map((bytes) => {
      const timeMs = timestampOf(bytes);
      if (bytes[0] === FLV_SCRIPT) return bytes;
      setTimestamp(bytes, 2 ** 32 - 62_000 + timeMs + (timeMs > 3_000 ? 60_000 : 0));
      return bytes;
    });
    const wrapped = Buffer.concat([header ?? Buffer.of(), ...shifted]);
    const times = timesOf(wrapped);
    expect(times.at(-1)).toBeGreaterThan(2 ** 32);
    expect(times).toEqual(packetTimesOf(wrapped));
  });

  test('a decoder that starts mid-stream has correct times', () => {
    const reader = new FlvReader();
    const parts: Uint8Array[] = [];
    const expected: number[] = [];
    for (const { bytes } of read(file)) {
      for (const unit of reader.push(bytes)) {
        const isEntryPoint = unit.isEntryPoint && (unit.sourceMs ?? 0) > 3_000;
        if (parts.length === 0 && isEntryPoint) parts.push(reader.header());
        if (parts.length === 0) continue;
        parts.push(unit.bytes);
        if (unit.sourceMs !== null) expected.push(unit.sourceMs);
      }
    }
    const late = Buffer.concat(parts);
    expect(packetTimesOf(late)).toEqual(expected);
    const hashes = ['-copyts', '-i', 'pipe:0', '-map', '0:v', '-f', 'framehash'];
    const frames = new TextDecoder().decode(runFfmpeg(hashes, late));
    const lines = frames.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const [, , firstFrame = ''] = lines[0]?.split(',') ?? [];
    // In frames of 1/15 s.
    expect(Number(firstFrame)).toBe(Math.round(((expected[0] ?? 0) / 1_000) * 15));
    expect(lines.length).toBeGreaterThan(15 * 2);
  });
});
