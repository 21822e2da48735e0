import { describe, expect, test } from 'bun:test';
import { IS_FULL_RUN } from '../../../test/support/full-run.ts';
import {
  beepsS,
  type EncoderResult,
  encodeSource,
  flashesS,
  trackFile,
} from '../../../test/support/media/encoder-fixture.ts';
import { runFfmpeg } from '../../../test/support/media/ffmpeg-fixture.ts';
import type { Container } from '../source.ts';

/** White and loud for the first 200 ms of each second, otherwise black and silent. */
const FLASHES = "color=black:s=96x54:r=30:d=4,drawbox=t=fill:c=white:enable='lt(mod(t,1),0.2)'";
const BEEPS = "aevalsrc='if(lt(mod(t,1),0.2),0.8*sin(2*PI*1000*t),0)':s=48000:d=4";
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '15'];
const X264_AAC = [...X264, '-c:a', 'aac'];
const VP8_OPUS = ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus'];

const FORMATS: Readonly<Record<Container, readonly string[]>> = {
  flv: [...X264_AAC, '-f', 'flv'],
  mpegts: [...X264_AAC, '-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts'],
  matroska: [...VP8_OPUS, '-f', 'matroska', '-live', '1'],
};

/** A source with a flash and a beep at each whole second of its clock, from `fromS` on. */
function createFlashSource(container: Container, fromS: number, audioFilter = 'anull'): Uint8Array {
  return runFfmpeg([
    ...['-f', 'lavfi', '-i', FLASHES],
    ...['-f', 'lavfi', '-i', BEEPS],
    ...['-af', audioFilter],
    ...FORMATS[container],
    ...['-output_ts_offset', `${fromS}`],
  ]);
}

/** Flashes and beeps coincide within 25 ms in all renditions. */
function expectInSync(result: EncoderResult, atS: readonly number[]): void {
  const flashes = flashesS(result, 'v0');
  expect(flashes.length).toBe(atS.length);
  for (const [index, flash] of flashes.entries()) {
    expect(Math.abs(flash - (atS[index] ?? Number.NaN))).toBeLessThan(0.02);
  }
  expect(flashesS(result, 'v2')).toEqual(flashes);
  const beeps = beepsS(result, 'a0');
  for (const flash of flashes) {
    expect(Math.min(...beeps.map((beep) => Math.abs(beep - flash)))).toBeLessThan(0.025);
  }
  expect(beeps.length).toBeLessThanOrEqual(flashes.length + 1);
}

describe('source clock', () => {
  const WRAP_S = 2 ** 33 / 90_000;

  const usual = [['flv', 90_000]] as const;
  const others = [
    ['mpegts', 90_000],
    ['matroska', 90_000],
    ['matroska', 0],
  ] as const;

  test.each(IS_FULL_RUN ? [...usual, ...others] : usual)(
    '[M-12] an encoder keeps the source times of %s from %d s on',
    async (container, fromS) => {
      const result = await encodeSource(createFlashSource(container, fromS), container, {
        startMs: fromS * 1000,
      });
      expectInSync(result, [fromS + 1, fromS + 2, fromS + 3]);
    },
  );

  test('[M-12] an encoder continues over a timestamp wrap of a transport stream', async () => {
    const fromS = Math.floor(WRAP_S) - 1;
    const result = await encodeSource(createFlashSource('mpegts', fromS), 'mpegts', {
      startMs: fromS * 1000,
    });
    expectInSync(result, [fromS + 1, fromS + 2, fromS + 3]);
  });

  test('[M-12] an encoder that starts after a timestamp wrap gets unwrapped times', async () => {
    const startMs = (WRAP_S + 100) * 1000;
    const result = await encodeSource(createFlashSource('mpegts', 100), 'mpegts', { startMs });
    expectInSync(
      result,
      [101, 102, 103].map((second) => WRAP_S + second),
    );
  });
});

describe('audio', () => {
  test('[M-12] a gap in the audio becomes silence and later audio stays in sync', async () => {
    const source = createFlashSource('flv', 90_000, "aselect='not(between(t,1.3,2.7))'");
    const result = await encodeSource(source, 'flv');
    const audioFragments = result.fragments.get('a0') ?? [];
    for (const [index, { startTicks, durationTicks }] of audioFragments.entries()) {
      const next = audioFragments[index + 1];
      if (next) expect(Math.abs(next.startTicks - startTicks - durationTicks)).toBeLessThan(480);
    }
    expect(beepsS(result, 'a0').map(Math.round)).toEqual([90_000, 90_001, 90_003]);
    expect(flashesS(result, 'v0').map(Math.round)).toEqual([90_001, 90_002, 90_003]);
  });
});

describe('renditions', () => {
  test('[M-10] renditions of noise stay within their bandwidth', async () => {
    const noise = ['-f', 'lavfi', '-i', 'color=gray:s=320x180:r=30:d=4,noise=alls=100:allf=t'];
    const soundNoise = ['-f', 'lavfi', '-i', 'anoisesrc=r=48000:a=0.9:d=4'];
    const source = runFfmpeg([...noise, ...soundNoise, ...FORMATS.flv, '-b:a', '320k']);
    const { tracks, fragments } = await encodeSource(source, 'flv');
    for (const { id, timescale, bandwidth } of tracks) {
      const all = fragments.get(id) ?? [];
      for (let second = 0; second < 3; second++) {
        const from = (all[0]?.startTicks ?? 0) + second * timescale;
        const bytes = all
          .filter(({ startTicks }) => startTicks >= from && startTicks < from + timescale)
          .reduce((sum, fragment) => sum + fragment.bytes.length, 0);
        expect(bytes * 8).toBeLessThanOrEqual(bandwidth);
      }
    }
  });

  test('[M-13] renditions keep their size when the source is rotated', async () => {
    const createPart = (size: string, fromS: number) =>
      runFfmpeg([
        ...['-f', 'lavfi', '-i', `color=white:s=${size}:r=15:d=2`],
        ...['-f', 'lavfi', '-i', 'sine=440:r=48000:d=2'],
        ...FORMATS.mpegts,
        ...['-preset', 'ultrafast', '-output_ts_offset', `${fromS}`],
      ]);
    const source = Buffer.concat([createPart('192x108', 100), createPart('108x192', 102)]);
    const result = await encodeSource(source, 'mpegts');
    const starts = (result.fragments.get('v0') ?? []).map(({ startTicks }) => startTicks / 90_000);
    expect(starts).toEqual(
      [100, 100.533, 101, 101.533, 102, 102.533, 103, 103.533].map((s) => expect.closeTo(s, 2)),
    );
    // Letterboxed: the left edge is black after the rotation.
    const left = runFfmpeg(
      ['-i', 'pipe:0', '-vf', 'crop=20:20:4:40,scale=1:1:flags=area,format=gray', '-f', 'rawvideo'],
      trackFile(result, 'v0'),
    );
    expect([left[5], left[55]].map((grey) => (grey ?? 0) > 128)).toEqual([true, false]);
  });

  test('[M-16] frames that are too large to decode are skipped', async () => {
    const createPart = (size: string, fromS: number) =>
      runFfmpeg([
        ...['-f', 'lavfi', '-i', `color=white:s=${size}:r=15:d=1`],
        ...FORMATS.mpegts,
        ...['-preset', 'ultrafast', '-output_ts_offset', `${fromS}`],
      ]);
    const source = [
      createPart('192x108', 100),
      createPart('4480x2400', 101),
      createPart('192x108', 102),
    ];
    const result = await encodeSource(Buffer.concat(source), 'mpegts');
    expect(result.exit).toMatchObject({ code: 0 });
    expect(result.exit.lastLines.join('\n')).toContain('exceeds specified max pixel count');
    const starts = (result.fragments.get('v0') ?? []).map(({ startTicks }) => startTicks / 90_000);
    expect(starts).toEqual(
      [100, 100.533, 101, 101.533, 102, 102.533].map((s) => expect.closeTo(s, 2)),
    );
  });
});
