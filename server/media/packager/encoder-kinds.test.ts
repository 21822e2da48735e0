import { describe, expect, test } from 'bun:test';
import { IS_FULL_RUN } from '../../../test/support/full-run.ts';
import { type EncoderResult, encodeSource } from '../../../test/support/media/encoder-fixture.ts';
import { runFfmpeg } from '../../../test/support/media/ffmpeg-fixture.ts';
import type { Container } from '../source.ts';
import { framesPerSegment } from './ffmpeg-arguments.ts';

const SECONDS = 4;

interface SourceOptions {
  readonly container: Container;
  readonly size: string;
  readonly fps?: number | string;
  readonly filter?: string;
  readonly codec?: readonly string[];
  readonly isSilent?: boolean;
}

const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '15'];
const X265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-g', '15'];
const FIELDS = ['-c:v', 'mpeg2video', '-flags', '+ildct+ilme'];

const FORMATS: Readonly<Record<Container, readonly string[]>> = {
  flv: ['-c:a', 'aac', '-f', 'flv'],
  mpegts: ['-c:a', 'aac', '-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts'],
  matroska: ['-c:a', 'libopus', '-f', 'matroska', '-live', '1'],
};

function createSource({
  container,
  size,
  fps = 15,
  filter,
  codec,
  isSilent,
}: SourceOptions): Uint8Array {
  const tone = ['-f', 'lavfi', '-i', `sine=440:r=48000:d=${SECONDS}`];
  return runFfmpeg([
    ...['-f', 'lavfi', '-i', `testsrc=s=${size}:r=${fps}:d=${SECONDS}`],
    ...(isSilent ? [] : tone),
    ...(filter ? ['-vf', filter, '-fps_mode', 'passthrough'] : []),
    ...(codec ?? (container === 'matroska' ? VP8 : X264)),
    ...FORMATS[container],
  ]);
}

/** All renditions have aligned, contiguous fragments and a key frame for each segment. */
function expectAligned({ info, tracks, fragments }: EncoderResult): void {
  const starts = (id: string) => (fragments.get(id) ?? []).map(({ startTicks }) => startTicks);
  const [frames, seconds] = info.frameRate;
  for (const { id, kind, timescale } of tracks) {
    const all = fragments.get(id) ?? [];
    for (const [index, { startTicks, durationTicks }] of all.entries()) {
      const next = all[index + 1];
      if (next) expect(Math.abs(next.startTicks - startTicks - durationTicks)).toBeLessThan(3);
    }
    if (kind === 'audio') continue;
    expect(starts(id)).toEqual(starts('v0'));
    const gopTicks = (framesPerSegment(info, 1000) * seconds * timescale) / frames;
    const syncs = all.filter(({ isSync }) => isSync).map(({ startTicks }) => startTicks);
    const expected = syncs.map((_, index) => (all[0]?.startTicks ?? 0) + index * gopTicks);
    expect(syncs.map(Math.round)).toEqual(expected.map(Math.round));
    expect(syncs.length).toBeGreaterThanOrEqual(SECONDS - 1);
  }
}

/** Source time at which a track starts and ends, s. */
function span({ fragments, inits }: EncoderResult, id: string): { from: number; to: number } {
  const timescale = inits.get(id)?.timescale ?? Number.NaN;
  const all = fragments.get(id) ?? [];
  const last = all.at(-1);
  return {
    from: (all[0]?.startTicks ?? Number.NaN) / timescale,
    to: ((last?.startTicks ?? Number.NaN) + (last?.durationTicks ?? 0)) / timescale,
  };
}

describe('encoder output', () => {
  const WIDE = ['192x108', '96x54', '64x36'];
  const SMALL = ['160x90', '80x46', '54x30'];
  const kinds: [name: string, kind: SourceOptions, sizes: string[]][] = [
    ['16:9', { container: 'flv', size: '192x108' }, WIDE],
    ['4:3', { container: 'flv', size: '160x120' }, ['160x120', '80x60', '54x40']],
    [
      'non-square pixels',
      { container: 'mpegts', size: '180x144', filter: 'setsar=16/15' },
      ['192x144', '96x72', '64x48'],
    ],
    ['portrait', { container: 'flv', size: '108x192' }, ['108x192', '54x96', '36x64']],
    ['odd sizes', { container: 'matroska', size: '333x187' }, ['332x186', '166x94', '112x62']],
    ['no audio in FLV', { container: 'flv', size: '192x108', isSilent: true }, WIDE],
    ['no audio in MPEG-TS', { container: 'mpegts', size: '192x108', isSilent: true }, WIDE],
    ['no audio in WebM', { container: 'matroska', size: '192x108', isSilent: true }, WIDE],
    ['60 frames a second', { container: 'flv', size: '160x90', fps: 60 }, SMALL],
    ['29.97 frames a second', { container: 'mpegts', size: '160x90', fps: '30000/1001' }, SMALL],
    [
      'a variable frame rate',
      {
        container: 'matroska',
        size: '160x90',
        fps: 30,
        filter: 'select=lt(random(1)\\,0.7)+eq(n\\,0)',
      },
      SMALL,
    ],
    ['HEVC', { container: 'mpegts', size: '192x108', codec: X265 }, WIDE],
    ['VP8 and Opus', { container: 'matroska', size: '192x108' }, WIDE],
    [
      'interlaced fields',
      { container: 'mpegts', size: '192x108', fps: 50, filter: 'tinterlace=4', codec: FIELDS },
      WIDE,
    ],
  ];

  const USUAL = ['4:3', 'odd sizes', '29.97 frames a second', 'no audio in MPEG-TS', 'HEVC'];

  test.each(kinds.filter(([name]) => IS_FULL_RUN || USUAL.includes(name)))(
    '[M-10] [M-11] [M-13] an encoder makes aligned renditions and audio of a source with %s',
    async (_, kind, sizes) => {
      const result = await encodeSource(createSource(kind), kind.container);
      expect(result.exit).toMatchObject({ code: 0, signal: null });
      const videos = result.tracks.filter((track) => track.kind === 'video');
      expect(videos.map(({ width, height }) => `${width}x${height}`)).toEqual(sizes);
      expect(result.tracks.map(({ id }) => id)).toEqual(['v0', 'v1', 'v2', 'a0']);
      expectAligned(result);
      const video = span(result, 'v0');
      expect(video.to - video.from).toBeGreaterThan(SECONDS - 0.3);
      expect(span(result, 'a0').from).toBeLessThan(video.from + 0.1);
      expect(span(result, 'a0').to).toBeGreaterThan(video.to - 0.2);
    },
  );
});
