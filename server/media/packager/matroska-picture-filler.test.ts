import { expect, test } from 'bun:test';
import {
  AUDIO_INPUT,
  decodeErrors,
  H264_ENCODER,
  probePackets,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { concatBytes } from '../byte-queue.ts';
import { MatroskaReader } from '../container/matroska.ts';
import { MatroskaPictureFiller } from './matroska-picture-filler.ts';

/** Packs an element with a size of four bytes. */
function element(id: readonly number[], ...content: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(content);
  const size = [0x10 | (body.length >> 24), body.length >> 16, body.length >> 8, body.length];
  return Uint8Array.from([...id, ...size.map((byte) => byte & 0xff), ...body]);
}

const unsigned = (id: number, value: number) =>
  element([id], Uint8Array.of((value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff));
const [VIDEO, AUDIO] = [1, 2];
const block = (track: number, ms: number, flags: number, data: number) =>
  Uint8Array.of(0x80 | track, ms >> 8, ms & 0xff, flags, data);
const simpleBlock = (track: number, ms: number, isKey = true, data = 1) =>
  element([0xa3], block(track, ms, isKey ? 0x80 : 0, data));
const audio = (ms: number) => simpleBlock(AUDIO, ms);
const cluster = (ms: number, ...blocks: readonly Uint8Array[]) =>
  element([0x1f, 0x43, 0xb6, 0x75], unsigned(0xe7, ms), ...blocks);

const track = (number: number, type: number) =>
  element([0xae], unsigned(0xd7, number), unsigned(0x83, type));
const HEADER = concatBytes([
  element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], new TextEncoder().encode('webm'))),
  Uint8Array.of(0x18, 0x53, 0x80, 0x67, 0xff),
  element([0x16, 0x54, 0xae, 0x6b], track(VIDEO, 1), track(AUDIO, 2)),
]);

/** The blocks of clusters that a filler has filled: track, time and data, key frames with `*`. */
function filled(...clusters: readonly Uint8Array[]): string[] {
  const filler = new MatroskaPictureFiller(() => true);
  const units = new MatroskaReader().push(concatBytes([HEADER, ...clusters]));
  const bytes = concatBytes(filler.fill(units).map((unit) => unit.bytes));
  const again = new MatroskaReader().push(bytes);
  return again.flatMap(({ isHeader, sourceMs, isEntryPoint }) =>
    isHeader || sourceMs === null ? [] : [`${sourceMs}${isEntryPoint ? '*' : ''}`],
  );
}

test('[M-13] the pictures since the last key frame are repeated after 1 s without video, then each 0.5 s', () => {
  const audioOnly = [500, 950, 1_000, 1_400, 1_500].map(audio);
  const times = filled(
    // The cluster has a size, which the repetitions would exceed.
    cluster(0, simpleBlock(VIDEO, 0), audio(0), simpleBlock(VIDEO, 100, false), ...audioOnly),
    cluster(2_000, simpleBlock(VIDEO, 0), audio(0)),
  );
  expect(times).toEqual([
    ...['0*', '0', '100', '500', '950', '1000'],
    // Both pictures in a cluster of their own; then the audio goes on, in a unit of two blocks.
    ...['1100*', '1100', '1400'],
    ...['1600*', '1600'],
    ...['2000*', '2000'],
  ]);
});

test('[M-13] nothing is repeated before the first key frame, or without sound', () => {
  expect(filled(cluster(0, simpleBlock(VIDEO, 0, false), audio(0), audio(5_000)))).toHaveLength(3);
  expect(filled(cluster(0, simpleBlock(VIDEO, 0), simpleBlock(VIDEO, 9_000, false)))).toEqual([
    '0*',
    '9000',
  ]);
});

test('[M-16] a picture with a time below 0 is repeated from 0 on', () => {
  const sound = [-5_000, -2_500, -200, 100].map(audio);
  const times = filled(cluster(0, audio(-9_000), simpleBlock(VIDEO, -9_000), ...sound));
  expect(times).toEqual(['-9000*', '-5000', '-2500', '-200', '100', '100*']);
});

test('[M-13] [M-16] of a group of more than 2,000 pictures the key frame alone is repeated', () => {
  const countAfter = (pictures: number) => {
    const more = Array.from({ length: pictures - 1 }, (_, n) => simpleBlock(VIDEO, n, false));
    return filled(cluster(0, simpleBlock(VIDEO, 0), audio(0), ...more, audio(9_000))).length;
  };
  expect(countAfter(2_000)).toBeGreaterThan(4_000);
  // The pictures, two units of audio and the repetition.
  expect(countAfter(2_001)).toBe(2_001 + 2 + 1);
});

test('[M-13] Matroska with all of its video has the same packets, in clusters without a size', () => {
  const args = ['-t', '4', ...VIDEO_INPUT, '-t', '4', ...AUDIO_INPUT, ...H264_ENCODER];
  const source = runFfmpeg([...args, '-c:a', 'aac', '-f', 'matroska']);
  const before = probePackets(source);
  const filler = new MatroskaPictureFiller(() => true);
  const units = filler.fill(new MatroskaReader().push(source));
  const bytes = concatBytes(units.map((unit) => unit.bytes));
  expect(probePackets(bytes)).toEqual(before);
  expect(decodeErrors(bytes)).toBe('');
});
