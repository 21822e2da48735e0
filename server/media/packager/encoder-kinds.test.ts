import { describe, expect, test } from 'bun:test';
import { type Encoded, encoded } from '../../../test/support/media/encoded.ts';
import { made } from '../../../test/support/media/made-with-ffmpeg.ts';
import type { Container } from '../source.ts';
import { framesPerSegment } from './ffmpeg-arguments.ts';

const SECONDS = 4;

interface Kind {
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

function sourceOf({ container, size, fps = 15, filter, codec, isSilent }: Kind): Uint8Array {
  const tone = ['-f', 'lavfi', '-i', `sine=440:r=48000:d=${SECONDS}`];
  return made([
    ...['-f', 'lavfi', '-i', `testsrc=s=${size}:r=${fps}:d=${SECONDS}`],
    ...(isSilent ? [] : tone),
    ...(filter ? ['-vf', filter, '-fps_mode', 'passthrough'] : []),
    ...(codec ?? (container === 'matroska' ? VP8 : X264)),
    ...FORMATS[container],
  ]);
}

/** All renditions have the same fragments, without holes, and a key frame for each segment. */
function expectAligned({ info, tracks, fragments }: Encoded): void {
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

/** From when to when there is something of a track, in s of source time. */
function span({ fragments, inits }: Encoded, id: string): { from: number; to: number } {
  const timescale = inits.get(id)?.timescale ?? Number.NaN;
  const all = fragments.get(id) ?? [];
  const last = all.at(-1);
  return {
    from: (all[0]?.startTicks ?? Number.NaN) / timescale,
    to: ((last?.startTicks ?? Number.NaN) + (last?.durationTicks ?? 0)) / timescale,
  };
}

describe('every kind of source gets renditions that are aligned, and sound', () => {
  const WIDE = ['192x108', '96x54', '64x36'];
  const SMALL = ['160x90', '80x46', '54x30'];
  const kinds: [name: string, kind: Kind, sizes: string[]][] = [
    ['16:9', { container: 'flv', size: '192x108' }, WIDE],
    ['4:3', { container: 'flv', size: '160x120' }, ['160x120', '80x60', '54x40']],
    [
      'pixels that are not square',
      { container: 'mpegts', size: '180x144', filter: 'setsar=16/15' },
      ['192x144', '96x72', '64x48'],
    ],
    ['portrait', { container: 'flv', size: '108x192' }, ['108x192', '54x96', '36x64']],
    ['odd sizes', { container: 'matroska', size: '333x187' }, ['332x186', '166x94', '112x62']],
    ['no sound in FLV', { container: 'flv', size: '192x108', isSilent: true }, WIDE],
    ['no sound in TS', { container: 'mpegts', size: '192x108', isSilent: true }, WIDE],
    ['no sound in WebM', { container: 'matroska', size: '192x108', isSilent: true }, WIDE],
    ['60 frames a second', { container: 'flv', size: '160x90', fps: 60 }, SMALL],
    ['29.97 frames', { container: 'mpegts', size: '160x90', fps: '30000/1001' }, SMALL],
    [
      'uneven frames',
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
      'fields',
      { container: 'mpegts', size: '192x108', fps: 50, filter: 'tinterlace=4', codec: FIELDS },
      WIDE,
    ],
  ];

  test.each(kinds)('[M-10] [M-11] [M-13] %s', async (_, kind, sizes) => {
    const result = await encoded(sourceOf(kind), kind.container);
    expect(result.exit).toMatchObject({ code: 0, signal: null });
    const videos = result.tracks.filter((track) => track.kind === 'video');
    expect(videos.map(({ width, height }) => `${width}x${height}`)).toEqual(sizes);
    expect(result.tracks.map(({ id }) => id)).toEqual(['v0', 'v1', 'v2', 'a0']);
    expectAligned(result);
    const pictures = span(result, 'v0');
    expect(pictures.to - pictures.from).toBeGreaterThan(SECONDS - 0.3);
    expect(span(result, 'a0').from).toBeLessThan(pictures.from + 0.1);
    expect(span(result, 'a0').to).toBeGreaterThan(pictures.to - 0.2);
  });
});
