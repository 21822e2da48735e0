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
import { MatroskaReader } from './matroska.ts';

const SECONDS = ['-t', '5'];
const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-g', '15', '-b:v', '200k'];
const BOTH = [...VIDEO_INPUT, ...AUDIO_INPUT, ...SECONDS];
/** As recorded by browsers: segment and clusters of unknown size. */
const live = runFfmpeg([...BOTH, ...VP8, '-c:a', 'libopus', '-live', '1', '-f', 'webm']);
/** As a file, with times that start above 0 and reordered frames. */
const file = runFfmpeg([
  ...BOTH,
  ...[...H264_ENCODER, '-c:a', 'aac', '-output_ts_offset', '4000.5', '-f', 'matroska'],
]);
const videoOnly = runFfmpeg([...VIDEO_INPUT, ...SECONDS, ...VP8, '-live', '1', '-f', 'webm']);
const audioOnly = runFfmpeg([...AUDIO_INPUT, ...SECONDS, '-c:a', 'libopus', '-f', 'webm']);
const SAMPLES = { live, file, videoOnly, audioOnly };

/** The header up to its list of tracks. */
function withoutTracks(header: Uint8Array): Uint8Array {
  return header.slice(0, Buffer.from(header).lastIndexOf('1654ae6b', header.length, 'hex'));
}

function read(bytes: Uint8Array, lengths: readonly number[] = [bytes.length]) {
  const reader = new MatroskaReader();
  const units: SourceUnit[] = [];
  for (const chunk of splitIntoChunks(bytes, lengths)) units.push(...reader.push(chunk));
  return { reader, units };
}

/** Largest part that may remain buffered at the end of a file: a cluster without video. */
const MAX_BUFFERED_BYTES = 4_000;

for (const [name, bytes] of Object.entries(SAMPLES)) {
  describe(`Matroska: ${name}`, () => {
    test('[M-4] units contain all bytes in order, headers first', () => {
      const { units } = read(bytes);
      const all = concatBytes(units.map((unit) => unit.bytes));
      expect(all).toEqual(bytes.slice(0, all.length));
      expect(bytes.length - all.length).toBeLessThan(MAX_BUFFERED_BYTES);
      const headerCount = units.findIndex(({ isHeader }) => !isHeader);
      expect(headerCount).toBeGreaterThan(2);
      expect(units.slice(headerCount).some(({ isHeader }) => isHeader)).toBe(false);
    });

    test('[M-4] units do not depend on chunk sizes', () => {
      const expectedUnits = read(bytes).units;
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }), (lengths) => {
          expect(read(bytes, lengths).units).toEqual(expectedUnits);
        }),
        { numRuns: 20 },
      );
      expect(read(bytes, [1]).units).toEqual(expectedUnits);
    });

    test('[M-12] source times equal those of ffmpeg', () => {
      const ffmpegTimes = probePackets(bytes).map(({ ptsMs }) => Math.round(ptsMs));
      const times = read(bytes).units.flatMap(({ sourceMs }) => sourceMs ?? []);
      expect(times.length).toBeGreaterThan(40);
      expect(ffmpegTimes[0]).toBe(times[0] as number);
      for (const time of times) expect(ffmpegTimes).toContain(time);
    });

    test('[M-40] a decoder can start at every entry point, after the headers', () => {
      const { reader, units } = read(bytes);
      const entryPoints = units.flatMap(({ isEntryPoint }, index) => (isEntryPoint ? [index] : []));
      expect(entryPoints.length).toBeGreaterThan(1);
      for (const index of entryPoints.slice(-rounds(2, 100))) {
        const rest = units.slice(index).map((unit) => unit.bytes);
        const late = concatBytes([reader.header(), ...rest]);
        expect(decodeErrors(late)).toBe('');
        const packets = probePackets(late);
        expect(Math.round(packets[0]?.ptsMs ?? 0)).toBe(units[index]?.sourceMs ?? -1);
        const pictures = packets.filter(({ type }) => type === 'video');
        if (bytes !== audioOnly) {
          expect(pictures[0]?.isKey).toBe(true);
          expect(countFrames(late)).toBe(pictures.length);
        }
      }
    });
  });
}

describe('Matroska', () => {
  test('[M-40] entry points are exactly the clusters that start with a key frame', () => {
    // Clusters start at key frames that are far enough from the previous one, and at time limits.
    const clusterLimit = ['-cluster_time_limit', '400', '-f', 'webm'];
    const few = runFfmpeg([...BOTH, ...VP8, '-g', '60', ...clusterLimit]);
    for (const bytes of [live, file, videoOnly, few]) {
      const keys = probePackets(bytes).filter(({ type, isKey }) => type === 'video' && isKey);
      const { units } = read(bytes);
      const clusters = units.filter((unit) => unit.bytes[0] === 0x1f && unit.bytes[1] === 0x43);
      const entryPoints = units.filter(({ isEntryPoint }) => isEntryPoint);
      expect(clusters).toEqual(expect.arrayContaining(entryPoints));
      expect(entryPoints.length).toBeGreaterThan(1);
      expect(entryPoints.length).toBeLessThanOrEqual(keys.length);
      if (bytes === few) expect(clusters.length).toBeGreaterThan(2 * keys.length);
    }
  });

  test('[M-40] the size of a segment does not limit a decoder that starts in the middle', () => {
    const knownSize = file.slice();
    const index = Buffer.from(knownSize.buffer).indexOf(Buffer.from([0x18, 0x53, 0x80, 0x67])) + 4;
    expect([...knownSize.subarray(index, index + 8)]).toEqual([1, ...Array(7).fill(255)]);
    knownSize.set([1, 0, 0, 0, 0, 0, 0x40, 0], index);
    const { reader, units } = read(knownSize);
    expect(concatBytes(units.map((unit) => unit.bytes))).toEqual(knownSize);
    expect(reader.header()).toEqual(read(file).reader.header());
    const second = units.findIndex(
      ({ isEntryPoint, sourceMs }) => isEntryPoint && (sourceMs ?? 0) > 4_001_000,
    );
    const late = concatBytes([reader.header(), ...units.slice(second).map((unit) => unit.bytes)]);
    expect(probePackets(late).at(-1)?.ptsMs).toBe(probePackets(file).at(-1)?.ptsMs);
  });

  test('a cluster with audio only is passed on while it arrives', () => {
    const { units } = read(live);
    const header = units.filter(({ isHeader }) => isHeader).map((unit) => unit.bytes);
    const reader = new MatroskaReader();
    reader.push(concatBytes(header));
    expect(reader.push(Uint8Array.of(0x1f, 0x43, 0xb6, 0x75, 0xff, 0xe7, 0x81, 9))).toEqual([]);
    const block = (ms: number) => Uint8Array.of(0xa3, 0x85, 0x82, 0, ms, 0x80, 1);
    const counts = Array.from({ length: 20 }, (_, i) => reader.push(block(20 * i)).length);
    expect(counts).toEqual([...Array(7).fill(0), ...Array(13).fill(1)]);
  });

  test('a block group without references is a key frame', () => {
    const header = read(videoOnly).units.filter(({ isHeader }) => isHeader);
    const cluster = [0x1f, 0x43, 0xb6, 0x75, 0xff, 0xe7, 0x82, 3, 0xe8];
    const block = [0xa1, 0x85, 0x81, 0, 5, 0, 1];
    const group = (...more: number[]) => [0xa0, 0x87 + more.length, ...block, ...more];
    const unitsOf = (bytes: number[]) => {
      const reader = new MatroskaReader();
      reader.push(concatBytes(header.map((unit) => unit.bytes)));
      return reader
        .push(Uint8Array.from(bytes))
        .map(({ isEntryPoint, sourceMs }) => ({ isEntryPoint, sourceMs }));
    };
    expect(unitsOf([...cluster, ...group()])).toEqual([{ isEntryPoint: true, sourceMs: 1_005 }]);
    expect(unitsOf([...cluster, ...group(0xfb, 0x81, 0xff)])).toEqual([
      { isEntryPoint: false, sourceMs: 1_005 },
    ]);
  });
});

describe('malformed WebM/Matroska', () => {
  const ERROR = 'this is not WebM/Matroska';

  test('[M-16] malformed WebM/Matroska is rejected within four bytes', () => {
    for (const text of ['FLV\x01', 'GET / HTTP/1.1', '\x00\x00\x00\x20ftypisom', 'G@\x00\x10']) {
      expect(() => read(Buffer.from(text, 'latin1'))).toThrow(ERROR);
    }
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 1_000 }), (bytes) => {
        fc.pre(bytes[0] !== 0x1a);
        expect(() => read(bytes, [1])).toThrow(ERROR);
      }),
    );
  });

  test('[M-16] malformed WebM/Matroska with any corrupted bytes causes only the expected error', () => {
    for (const bytes of [live, file]) {
      const position = fc.nat(bytes.length - 1);
      fc.assert(
        fc.property(position, fc.uint8Array({ maxLength: 40 }), (index, garbage) => {
          const corrupted = bytes.slice();
          corrupted.set(garbage.subarray(0, bytes.length - index), index);
          errorOf(corrupted);
        }),
        { numRuns: 200 },
      );
      fc.assert(
        fc.property(fc.nat(700), fc.nat(255), (index, value) => {
          const corrupted = bytes.slice(0, 50_000);
          corrupted[index] = value;
          errorOf(corrupted);
        }),
        { numRuns: 500 },
      );
    }
  });

  test('[M-16] malformed WebM/Matroska with an endless header or an oversized element is rejected', () => {
    const header = read(live).reader.header();
    const voidHeader = Uint8Array.of(0xec, 0x10, 0x10, 0, 0);
    const voids = Array(5)
      .fill([voidHeader, new Uint8Array(0x10_0000)])
      .flat();
    expect(errorOf(concatBytes([header, ...voids]))).toContain('header is too large');
    const many = Array(1_001).fill(Uint8Array.of(0xec, 0x80));
    expect(errorOf(concatBytes([header, ...many]))).toContain('header is too large');
    const block = Uint8Array.of(0xa3, 0x08, 0xff, 0xff, 0xff, 0xff);
    const cluster = Uint8Array.of(0x1f, 0x43, 0xb6, 0x75, 0xff);
    expect(errorOf(concatBytes([header, cluster, block]))).toContain('too large');
  });

  test('[M-16] malformed WebM/Matroska with too many children or too long a number is rejected', () => {
    const header = read(live).reader.header();
    const cluster = Uint8Array.of(0x1f, 0x43, 0xb6, 0x75, 0xff);
    // A block and empty void elements, of two bytes each.
    const block = Uint8Array.of(0xa1, 0x84, 0x81, 0, 0, 0);
    const voids = new Uint8Array(400).fill(0xec).map((id, at) => (at % 2 === 0 ? id : 0x80));
    const group = concatBytes([Uint8Array.of(0xa0, 0x41, 0x96), block, voids]);
    expect(errorOf(concatBytes([header, cluster, group]))).toContain('too many children');
    const timestamp = Uint8Array.of(0xe7, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    expect(errorOf(concatBytes([header, cluster, timestamp]))).toContain('number is too long');
  });

  test('[M-16] malformed WebM/Matroska with a repeated Info or Tracks element, or too many tracks, is rejected', () => {
    const start = Buffer.from('1a45dfa3874282847765626d18538067ff', 'hex');
    const tracks = (entries: number) =>
      Buffer.from(
        `1654ae6b40${(entries * 2).toString(16).padStart(2, '0')}${'ae80'.repeat(entries)}`,
        'hex',
      );
    expect(errorOf(concatBytes([start, tracks(64)]))).toBe('');
    expect(errorOf(concatBytes([start, tracks(65)]))).toContain('too many tracks');
    const info = Buffer.from('1549a96680', 'hex');
    for (const element of [info, tracks(1)]) {
      expect(errorOf(concatBytes([start, element]))).toBe('');
      expect(errorOf(concatBytes([start, element, element]))).toContain(
        'has two Info or two Tracks',
      );
    }
  });

  test('[M-16] WebM/Matroska with a timestamp scale of a track is rejected, unless it is 1', () => {
    const header = withoutTracks(read(live).reader.header());
    const headerWithScale = (bytes: number, scale: number) => {
      const value = new DataView(new ArrayBuffer(bytes));
      if (bytes === 4) value.setFloat32(0, scale);
      else value.setFloat64(0, scale);
      const element = [0x23, 0x31, 0x4f, 0x80 | bytes, ...new Uint8Array(value.buffer)];
      const entry = [0xae, 0x80 | (element.length + 3), 0xd7, 0x81, 1, ...element];
      const tracks = [0x16, 0x54, 0xae, 0x6b, 0x80 | entry.length, ...entry];
      return concatBytes([header, Uint8Array.from(tracks)]);
    };
    for (const bytes of [4, 8]) {
      expect(errorOf(headerWithScale(bytes, 1))).toBe('');
      for (const scale of [0.01, 0.999, 0, -1, Number.NaN, Number.POSITIVE_INFINITY])
        expect(errorOf(headerWithScale(bytes, scale))).toContain('its own timestamp scale');
    }
  });

  test('[M-16] malformed WebM/Matroska with a cluster without blocks does not grow memory', () => {
    const header = read(live).reader.header();
    const reader = new MatroskaReader();
    reader.push(concatBytes([header, Uint8Array.of(0x1f, 0x43, 0xb6, 0x75, 0xff)]));
    const voidElement = concatBytes([Uint8Array.of(0xec, 0x60, 0), new Uint8Array(8_192)]);
    let passedBytes = 0;
    for (let i = 0; i < 20; i++) {
      for (const unit of reader.push(voidElement)) passedBytes += unit.bytes.length;
    }
    expect(passedBytes).toBe(5 + 20 * voidElement.length);
  });

  test('[M-16] malformed WebM/Matroska with a second recording on the same connection is rejected', () => {
    expect(errorOf(concatBytes([live, live]))).toContain('reconnect');
    expect(errorOf(concatBytes([audioOnly, audioOnly]))).toContain('reconnect');
  });
});

/** The reader's error message for these bytes; empty without an error. */
function errorOf(bytes: Uint8Array): string {
  try {
    read(bytes, [5_000]);
    return '';
  } catch (error) {
    expect((error as Error).message).toStartWith('this is not WebM/Matroska');
    return (error as Error).message;
  }
}

test('[M-16] a long document type ends the source at once', () => {
  const type = Buffer.concat([Buffer.alloc(1_000_000), Buffer.from('x')]);
  const sizeOf = (bytes: number) => {
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(bytes));
    size[0] = 1;
    return size;
  };
  const child = Buffer.concat([Buffer.from([0x42, 0x82]), sizeOf(type.length), type]);
  const header = Buffer.concat([
    Buffer.from([0x1a, 0x45, 0xdf, 0xa3]),
    sizeOf(child.length),
    child,
  ]);
  expect(() => new MatroskaReader().push(header)).toThrow('too long');
});
