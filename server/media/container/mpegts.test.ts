import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { rounds } from '../../../test/support/full-run.ts';
import {
  AUDIO_INPUT,
  countFrames,
  decodeErrors,
  H264_ENCODER,
  probePackets,
  runFfmpeg,
  splitIntoChunks,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { concatBytes } from '../byte-queue.ts';
import type { SourceUnit } from './container.ts';
import { MPEGTS_WRAP_MS, MpegTsReader } from './mpegts.ts';

const SECONDS = ['-t', '5'];
const BOTH = [...VIDEO_INPUT, ...AUDIO_INPUT, ...SECONDS];
const H264_AAC = [...H264_ENCODER, '-c:a', 'aac'];
const source = runFfmpeg([...BOTH, ...H264_AAC, '-output_ts_offset', '7000', '-f', 'mpegts']);
const videoOnly = runFfmpeg([...VIDEO_INPUT, ...SECONDS, ...H264_ENCODER, '-f', 'mpegts']);
const audioOnly = runFfmpeg([...AUDIO_INPUT, ...SECONDS, '-c:a', 'aac', '-f', 'mpegts']);
const SAMPLES = { source, videoOnly, audioOnly };

const PACKET = 188;

function read(bytes: Uint8Array, lengths: readonly number[] = [bytes.length]) {
  const reader = new MpegTsReader();
  const units: SourceUnit[] = [];
  for (const chunk of splitIntoChunks(bytes, lengths)) units.push(...reader.push(chunk));
  return { reader, units };
}

/** Properties of units by byte offset, independent of how runs of plain packets are split. */
function unitProperties(units: readonly SourceUnit[]) {
  const result: unknown[] = [];
  let at = 0;
  for (const { bytes, ...properties } of units) {
    if (properties.isHeader || properties.isEntryPoint || properties.sourceMs !== null)
      result.push({ at, ...properties });
    at += bytes.length;
  }
  return result;
}

/** Packets with their continuity counters cleared. */
function withoutCounters(packets: Uint8Array): Uint8Array {
  return packets.map((byte, at) => (at % PACKET === 3 ? byte & 0xf0 : byte));
}

const bytesOf = (units: readonly SourceUnit[]): Uint8Array =>
  concatBytes(units.map(({ bytes }) => bytes));

for (const [name, bytes] of Object.entries(SAMPLES)) {
  describe(`MPEG-TS: ${name}`, () => {
    test('[M-3] units contain all bytes in order', () => {
      expect(bytesOf(read(bytes).units)).toEqual(bytes);
    });

    test('[M-3] units do not depend on chunk sizes', () => {
      const expected = read(bytes);
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1 }), (lengths) => {
          const split = read(bytes, lengths);
          expect(bytesOf(split.units)).toEqual(bytes);
          expect(unitProperties(split.units)).toEqual(unitProperties(expected.units));
          expect(split.reader.header()).toEqual(expected.reader.header());
        }),
        { numRuns: 20 },
      );
      expect(unitProperties(read(bytes, [1]).units)).toEqual(unitProperties(expected.units));
    });

    test('[M-14] everything but an incomplete packet is passed on at once', () => {
      const reader = new MpegTsReader();
      let passedBytes = 0;
      let receivedBytes = 0;
      for (const chunk of splitIntoChunks(bytes, [1_316])) {
        receivedBytes += chunk.length;
        for (const unit of reader.push(chunk)) passedBytes += unit.bytes.length;
        expect(receivedBytes - passedBytes).toBeLessThan(PACKET);
      }
    });

    test('[M-12] source times equal those of ffmpeg', () => {
      const packets = probePackets(bytes);
      const type = bytes === audioOnly ? 'audio' : 'video';
      const ffmpegMs = packets.filter((packet) => packet.type === type).map(({ ptsMs }) => ptsMs);
      const times = read(bytes).units.flatMap(({ sourceMs }) => sourceMs ?? []);
      const rounded = (ms: number) => Math.round(ms * 1000) / 1000;
      // ffmpeg splits the several audio frames of a PES packet.
      if (type === 'video') expect(times.map(rounded)).toEqual(ffmpegMs.map(rounded));
      else for (const time of times) expect(ffmpegMs.map(rounded)).toContain(rounded(time));
      expect(times.length).toBeGreaterThan(10);
    });

    test('[M-40] a decoder can start at every entry point, after the tables', () => {
      const { reader, units } = read(bytes);
      expect(reader.header()).toHaveLength(2 * PACKET);
      const entryPoints = units.flatMap(({ isEntryPoint }, at) => (isEntryPoint ? [at] : []));
      expect(entryPoints.length).toBeGreaterThan(3);
      for (const at of entryPoints.slice(-rounds(2, 5))) {
        const late = concatBytes([reader.header(), bytesOf(units.slice(at))]);
        expect(decodeErrors(late)).toBe('');
        if (bytes === audioOnly) continue;
        const pictures = probePackets(late).filter(({ type }) => type === 'video');
        expect(pictures[0]?.isKey).toBe(true);
        expect(pictures[0]?.ptsMs).toBeCloseTo(units[at]?.sourceMs ?? -1, 2);
        expect(countFrames(late)).toBe(pictures.length);
      }
    });
  });
}

describe('MPEG-TS', () => {
  test('[M-40] entry points are exactly the key frames', () => {
    const keys = probePackets(source).filter(({ type, isKey }) => type === 'video' && isKey);
    const entryPoints = read(source).units.filter(({ isEntryPoint }) => isEntryPoint);
    const entryTimes = entryPoints.map(({ sourceMs }) => Math.round(sourceMs ?? -1));
    expect(entryTimes).toEqual(keys.map(({ ptsMs }) => Math.round(ptsMs)));
  });

  test('[M-40] without random access indicators, every frame becomes an entry point after a while', () => {
    const many = runFfmpeg([...VIDEO_INPUT, '-t', '25', ...H264_ENCODER, '-f', 'mpegts']);
    const unmarked = many.slice();
    for (let at = 0; at < unmarked.length; at += PACKET) {
      const hasFlags = ((unmarked[at + 3] ?? 0) & 0x20) !== 0 && (unmarked[at + 4] ?? 0) > 0;
      if (hasFlags) unmarked[at + 5] = (unmarked[at + 5] ?? 0) & ~0x40;
    }
    expect(read(many).units.filter(({ isEntryPoint }) => isEntryPoint)).toHaveLength(25);
    const { units } = read(unmarked);
    const entryPoints = units.map(({ sourceMs, isEntryPoint }) => ({ sourceMs, isEntryPoint }));
    const pictures = entryPoints.filter(({ sourceMs }) => sourceMs !== null);
    expect(pictures.map(({ isEntryPoint }) => isEntryPoint)).toEqual([
      ...Array(300).fill(false),
      ...Array(75).fill(true),
    ]);
  });

  test('[M-12] source times keep rising over a wrap', () => {
    const wrapS = MPEGTS_WRAP_MS / 1000;
    // Shortly before a wrap, ffmpeg treats times as negative.
    for (const [beforeS, firstMs] of [
      [3, -3_000],
      [70, MPEGTS_WRAP_MS - 70_000],
    ] as const) {
      const offset = ['-muxdelay', '0', '-output_ts_offset', `${wrapS - beforeS}`];
      const video = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=5', '-t', `${beforeS + 2}`];
      const around = runFfmpeg([...video, ...H264_ENCODER, '-bf', '0', ...offset, '-f', 'mpegts']);
      const times = read(around).units.flatMap(({ sourceMs }) => sourceMs ?? []);
      expect(times[0]).toBeCloseTo(firstMs, 1);
      expect(times).toHaveLength((beforeS + 2) * 5);
      for (const [i, ms] of times.entries()) expect(ms - firstMs).toBeCloseTo(200 * i, 0);
      const ffmpegMs = probePackets(around).map(({ ptsMs }) => Math.round(ptsMs));
      expect(times.map(Math.round)).toEqual(ffmpegMs);
    }
  });

  test('[M-16] lost or inserted bytes cost at most a few packets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(source.length - 1), { minLength: 1, maxLength: 5 }),
        fc.nat(400),
        fc.uint8Array({ maxLength: 400 }),
        (offsets, gap, noise) => {
          const pieces: Uint8Array[] = [];
          let from = 0;
          for (const at of offsets.toSorted((one, other) => one - other)) {
            if (at < from) continue;
            pieces.push(source.subarray(from, at), noise);
            from = at + gap;
          }
          const broken = concatBytes([...pieces, source.subarray(from)]);
          const passedBytes = bytesOf(read(broken, [1_316]).units);
          expect(passedBytes.length % PACKET).toBe(0);
          expect(passedBytes.length).toBeGreaterThan(
            broken.length - offsets.length * (400 + 4 * PACKET),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  test('[M-16] a transport with constant small losses is not rejected', () => {
    const noise = new Uint8Array(3_000);
    const reader = new MpegTsReader();
    let passed = 0;
    for (let i = 0; i < 40; i++) {
      for (const unit of reader.push(concatBytes([source, noise]))) passed += unit.bytes.length;
    }
    expect(passed).toBeGreaterThan(39 * source.length);
  });

  test('[M-16] a table with a wrong CRC is ignored', () => {
    const expected = read(source);
    const tables = [0, 0x1000].map((pid) => {
      const packet = source.findIndex(
        (_, at) =>
          at % PACKET === 0 && source[at + 1] === (0x40 | (pid >> 8)) && source[at + 2] === 0,
      );
      expect(packet).toBeGreaterThan(0);
      return source.subarray(packet, packet + PACKET);
    });
    for (const table of tables) {
      for (let at = 5; at < 21; at++) {
        const damaged = table.slice();
        damaged[at] = (damaged[at] ?? 0) ^ 0x10;
        const header = read(concatBytes([source, damaged])).reader.header();
        expect(withoutCounters(header)).toEqual(withoutCounters(expected.reader.header()));
      }
    }
    const marked = source.slice();
    for (let at = 0; at < marked.length; at += PACKET)
      marked[at + 1] = (marked[at + 1] ?? 0) | 0x80;
    const { units } = read(concatBytes([source, marked]));
    const mediaUnits = (all: readonly SourceUnit[]) =>
      unitProperties(all).filter((properties) => !(properties as SourceUnit).isHeader);
    expect(mediaUnits(units)).toEqual(mediaUnits(expected.units));
  });

  test('a source may start in the middle of a packet and change its tables', () => {
    const { units } = read(source.subarray(100));
    expect(bytesOf(units)).toEqual(source.slice(PACKET));
    const pids = ['-mpegts_start_pid', '0x300', '-mpegts_pmt_start_pid', '0x1200'];
    const other = runFfmpeg([...BOTH, ...H264_AAC, ...pids, '-f', 'mpegts']);
    const { reader, units: allUnits } = read(concatBytes([source, other]));
    expect(reader.header()).toEqual(read(other).reader.header());
    expect(allUnits.filter(({ isEntryPoint }) => isEntryPoint)).toHaveLength(10);
  });

  test('a table in several packets is stored completely', () => {
    const inputs = [...VIDEO_INPUT, ...AUDIO_INPUT, '-t', '0.5'];
    const tracks = ['-map', '0:v', ...Array(40).fill(['-map', '1:a']).flat()];
    const wide = runFfmpeg([...inputs, ...tracks, ...H264_AAC, '-f', 'mpegts']);
    const { reader, units } = read(wide);
    expect(reader.header().length).toBe(3 * PACKET);
    expect(units.some(({ sourceMs }) => sourceMs !== null)).toBe(true);
  });
});

describe('malformed MPEG-TS', () => {
  test('[M-16] malformed MPEG-TS is rejected within 64 KB', () => {
    const readInChunks = (bytes: Uint8Array) => {
      const reader = new MpegTsReader();
      let passedBytes = 0;
      for (const chunk of splitIntoChunks(bytes, [1_000])) {
        for (const unit of reader.push(chunk)) passedBytes += unit.bytes.length;
      }
      return passedBytes;
    };
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(255)), (noise) => {
        const bytes = Uint8Array.from({ length: 70_000 }, () => noise.next().value as number);
        expect(() => readInChunks(bytes)).toThrow('this is not MPEG-TS');
      }),
      { numRuns: 10 },
    );
    expect(() => readInChunks(new Uint8Array(70_000))).toThrow('this is not MPEG-TS');
  });

  test('[M-16] malformed MPEG-TS without a program is rejected', () => {
    const packet = new Uint8Array(PACKET).fill(0xff);
    packet.set([0x47, 0x1f, 0xff, 0x10]);
    const reader = new MpegTsReader();
    const run = concatBytes(Array(1_000).fill(packet));
    const feed = () => {
      for (let i = 0; i < 30; i++) reader.push(run);
    };
    expect(feed).toThrow('no program');
  });

  test('[M-16] malformed MPEG-TS with any corrupted bytes causes only the expected errors', () => {
    fc.assert(
      fc.property(fc.nat(source.length - 1), fc.uint8Array({ maxLength: 400 }), (at, noise) => {
        const broken = source.slice();
        broken.set(noise.subarray(0, source.length - at), at);
        expect(() => read(broken, [1_316])).not.toThrow();
      }),
      { numRuns: 100 },
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3 * PACKET), fc.nat(255)), { maxLength: 20 }),
        (wrong) => {
          const broken = source.slice(0, 40_000);
          for (const [at, value] of wrong) broken[at] = value;
          expect(() => read(broken, [1_316])).not.toThrow();
        },
      ),
      { numRuns: 300 },
    );
  });
});
