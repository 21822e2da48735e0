import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inChunks, made } from '../../../test/support/media/made-with-ffmpeg.ts';
import { startProbe } from './probe.ts';

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-probe-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SECONDS = 5;
const PICTURE = ['-f', 'lavfi', '-i', `testsrc=s=160x90:r=30:d=${SECONDS}`];
const TONE = ['-f', 'lavfi', '-i', `sine=440:r=48000:d=${SECONDS}`];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '60'];
const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-g', '100'];
const AAC = ['-c:a', 'aac'];

const OBS = [...PICTURE, ...TONE, ...X264, ...AAC, '-f', 'flv'];
const SRT = [...PICTURE, ...TONE, ...X264, ...AAC, '-f', 'mpegts'];
const BROWSER = [...PICTURE, ...TONE, ...VP8, '-c:a', 'libopus', '-f', 'webm', '-live', '1'];

/** Only the beginning comes, and the connection stays. */
async function beginning(source: Uint8Array, container: 'flv' | 'mpegts' | 'matroska') {
  const probe = startProbe('ffprobe')(container);
  for (const chunk of inChunks(source, [4_096, 100])) probe.write(chunk);
  return await probe.result;
}

/** Nothing more comes, and the test does not wait for it. */
const SOON = { inputMs: 500, totalMs: 5_000 };

const share = (bytes: Uint8Array, seconds: number) =>
  bytes.subarray(0, (bytes.length * seconds) / SECONDS);

describe('a probe', () => {
  test.each([
    ['OBS', 'flv', OBS, true],
    ['OBS without sound', 'flv', [...PICTURE, ...X264, '-f', 'flv'], false],
    ['a sender of SRT', 'mpegts', SRT, true],
    ['one without sound', 'mpegts', [...PICTURE, ...X264, '-f', 'mpegts'], false],
    ['a browser', 'matroska', BROWSER, true],
  ] as const)('[M-13] of %s needs less than 2 s of it', async (_, container, args, hasAudio) => {
    const source = made(args);
    expect(await beginning(share(source, 2), container)).toEqual({
      width: 160,
      height: 90,
      frameRate: [30, 1],
      hasAudio,
      analyzeMs: 1_000,
    });
  });

  test('[M-13] of a source that begins in the middle waits for its key frame', async () => {
    const source = made(SRT);
    const start = 188 * Math.round(source.length / SECONDS / 188 / 4);
    const probe = startProbe('ffprobe')('mpegts');
    const again = Buffer.concat([source.subarray(start), made([...SRT, '-output_ts_offset', '5'])]);
    for (const chunk of inChunks(again, [4_096])) probe.write(chunk);
    expect(await probe.result).toMatchObject({ width: 160, height: 90, analyzeMs: 8_000 });
  });

  test('[M-16] of a source without a picture says so', async () => {
    const probe = startProbe('ffprobe', SOON)('mpegts');
    probe.write(made([...TONE, ...AAC, '-f', 'mpegts']));
    await expect(probe.result).rejects.toThrow('a source needs a video track');
  });

  test('[M-16] of garbage says so', async () => {
    for (const container of ['flv', 'matroska'] as const) {
      const probe = startProbe('ffprobe', SOON)(container);
      probe.write(crypto.getRandomValues(new Uint8Array(100_000)));
      // By chance there is something in it that looks like a track.
      await expect(probe.result).rejects.toThrow(/^(no video|there is no picture|its picture)/);
    }
  });

  test('[M-16] of more and more that is no video keeps a part of it, and says so', async () => {
    const probe = startProbe('ffprobe')('mpegts');
    for (let i = 0; i < 40; i++) probe.write(new Uint8Array(1 << 20));
    await expect(probe.result).rejects.toThrow('no video was found in what was sent');
  });

  test('[M-16] that hangs is ended', async () => {
    const hanging = join(directory, 'ffprobe');
    writeFileSync(hanging, '#!/bin/sh\nexec sleep 60\n');
    chmodSync(hanging, 0o755);
    const probe = startProbe(hanging, { inputMs: 50, totalMs: 100 })('flv');
    probe.write(new Uint8Array(10));
    await expect(probe.result).rejects.toThrow('it is not understood, or too little came to tell');
  });

  test('[M-7] of a source that is gone is ended', async () => {
    const probe = startProbe('ffprobe')('flv');
    probe.write(share(made(OBS), 0.1));
    probe.kill();
    await expect(probe.result).rejects.toThrow('it ended before it was understood');
    probe.write(new Uint8Array(10));
    probe.kill();
  });

  test('[M-44] without ffprobe says so', async () => {
    const probe = startProbe('/nowhere/ffprobe')('flv');
    probe.write(new Uint8Array(10));
    await expect(probe.result).rejects.toThrow('ffprobe cannot be run');
  });
});
