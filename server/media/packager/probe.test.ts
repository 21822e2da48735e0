import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFfmpeg, splitIntoChunks } from '../../../test/support/media/ffmpeg-fixture.ts';
import { startProbe } from './probe.ts';

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-probe-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SECONDS = 5;
const VIDEO = ['-f', 'lavfi', '-i', `testsrc=s=160x90:r=30:d=${SECONDS}`];
const AUDIO = ['-f', 'lavfi', '-i', `sine=440:r=48000:d=${SECONDS}`];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '60'];
const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-g', '100'];
const AAC = ['-c:a', 'aac'];

const OBS = [...VIDEO, ...AUDIO, ...X264, ...AAC, '-f', 'flv'];
const SRT = [...VIDEO, ...AUDIO, ...X264, ...AAC, '-f', 'mpegts'];
const BROWSER = [...VIDEO, ...AUDIO, ...VP8, '-c:a', 'libopus', '-f', 'webm', '-live', '1'];

/** Probes the beginning of a source whose connection stays open. */
async function probeBeginning(source: Uint8Array, container: 'flv' | 'mpegts' | 'matroska') {
  const probe = startProbe('ffprobe')(container);
  for (const chunk of splitIntoChunks(source, [4_096, 100])) probe.write(chunk);
  return await probe.result;
}

/** Short time limits, for sources that send nothing more. */
const SHORT_TIMEOUTS = { inputMs: 500, totalMs: 5_000 };

const firstSeconds = (bytes: Uint8Array, seconds: number) =>
  bytes.subarray(0, (bytes.length * seconds) / SECONDS);

describe('probe', () => {
  test.each([
    ['OBS', 'flv', OBS, true],
    ['OBS without audio', 'flv', [...VIDEO, ...X264, '-f', 'flv'], false],
    ['an SRT sender', 'mpegts', SRT, true],
    ['an SRT sender without audio', 'mpegts', [...VIDEO, ...X264, '-f', 'mpegts'], false],
    ['a browser', 'matroska', BROWSER, true],
  ] as const)(
    '[M-13] the probe of %s needs less than 2 s',
    async (_, container, args, hasAudio) => {
      const source = runFfmpeg(args);
      expect(await probeBeginning(firstSeconds(source, 2), container)).toEqual({
        width: 160,
        height: 90,
        frameRate: [30, 1],
        hasAudio,
        analyzeMs: 1_000,
      });
    },
  );

  test('[M-13] the probe of a source that starts mid-stream waits for a key frame', async () => {
    const source = runFfmpeg(SRT);
    const start = 188 * Math.round(source.length / SECONDS / 188 / 4);
    const probe = startProbe('ffprobe')('mpegts');
    const sourceUntilKeyFrame = Buffer.concat([
      source.subarray(start),
      runFfmpeg([...SRT, '-output_ts_offset', '5']),
    ]);
    for (const chunk of splitIntoChunks(sourceUntilKeyFrame, [4_096])) probe.write(chunk);
    expect(await probe.result).toMatchObject({ width: 160, height: 90, analyzeMs: 8_000 });
  });

  test('[M-16] the probe rejects a source without video', async () => {
    const probe = startProbe('ffprobe', SHORT_TIMEOUTS)('mpegts');
    probe.write(runFfmpeg([...AUDIO, ...AAC, '-f', 'mpegts']));
    await expect(probe.result).rejects.toThrow('The source has no video track');
  });

  test('[M-16] the probe rejects garbage', async () => {
    for (const container of ['flv', 'matroska'] as const) {
      const probe = startProbe('ffprobe', SHORT_TIMEOUTS)(container);
      probe.write(crypto.getRandomValues(new Uint8Array(100_000)));
      // Random bytes may look like a track.
      await expect(probe.result).rejects.toThrow(/^(No video|The source has no video|The video)/);
    }
  });

  test('[M-16] the probe limits its input and rejects data without video', async () => {
    const probe = startProbe('ffprobe')('mpegts');
    for (let i = 0; i < 40; i++) probe.write(new Uint8Array(1 << 20));
    await expect(probe.result).rejects.toThrow('No video was found in the source.');
  });

  test('[M-16] a probe that hangs is killed', async () => {
    const hanging = join(directory, 'ffprobe');
    writeFileSync(hanging, '#!/bin/sh\nexec sleep 60\n');
    chmodSync(hanging, 0o755);
    const probe = startProbe(hanging, { inputMs: 50, totalMs: 100 })('flv');
    probe.write(new Uint8Array(10));
    await expect(probe.result).rejects.toThrow('The source was not recognized as video in time.');
  });

  test('[M-7] the probe of a disconnected source is killed', async () => {
    const probe = startProbe('ffprobe')('flv');
    probe.write(firstSeconds(runFfmpeg(OBS), 0.1));
    probe.kill();
    await expect(probe.result).rejects.toThrow('The source ended before it was recognized.');
    probe.write(new Uint8Array(10));
    probe.kill();
  });

  test('[M-44] the probe reports a missing ffprobe', async () => {
    const probe = startProbe('/nowhere/ffprobe')('flv');
    probe.write(new Uint8Array(10));
    await expect(probe.result).rejects.toThrow('ffprobe cannot be run');
  });
});
