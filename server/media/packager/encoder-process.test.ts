import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENCODER_SETTINGS } from '../../../test/support/media/encoder-fixture.ts';
import { runFfmpeg } from '../../../test/support/media/ffmpeg-fixture.ts';
import type { TrackId } from '../segment.ts';
import type { Encoder, EncoderOptions, EncoderProgress } from './encoder.ts';
import { startEncoder } from './encoder-ffmpeg.ts';

const OPTIONS: EncoderOptions = {
  container: 'flv',
  source: { width: 96, height: 54, frameRate: [15, 1], hasAudio: false },
  settings: ENCODER_SETTINGS,
  startMs: 0,
};

const SOURCE = runFfmpeg([
  ...['-f', 'lavfi', '-i', 'testsrc=s=96x54:r=15:d=4'],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-f', 'flv'],
]);

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-encoder-'));
const running: Encoder[] = [];
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  for (const encoder of running) encoder.kill();
  await Promise.all(running.map(({ exited }) => exited));
});

interface EncoderRun {
  readonly encoder: Encoder;
  readonly fragments: TrackId[];
  /** Start times of the fragments of the first rendition, s. */
  readonly startsS: number[];
  readonly progress: EncoderProgress[];
  /** Resolves with the first fragment. */
  readonly firstFragment: Promise<void>;
}

function startRun(change: Partial<EncoderOptions> = {}, start = startEncoder): EncoderRun {
  const first = Promise.withResolvers<void>();
  const fragments: TrackId[] = [];
  const startsS: number[] = [];
  const progress: EncoderProgress[] = [];
  const encoder = start(
    { ...OPTIONS, ...change },
    {
      onInits: () => {},
      onFragment: (track, { startTicks }) => {
        fragments.push(track);
        if (track === 'v0') startsS.push(startTicks / 90_000);
        first.resolve();
      },
      onProgress: (report) => progress.push(report),
      onAudioMissing: () => {},
    },
  );
  running.push(encoder);
  return { encoder, fragments, startsS, progress, firstFragment: first.promise };
}

/** Waits until the encoder has processed its input: it uses no CPU for a while. */
async function waitUntilIdle(encoder: Encoder): Promise<void> {
  let used = encoder.cpuSeconds();
  for (let quiet = 0; quiet < 5; ) {
    await Bun.sleep(100);
    const now = encoder.cpuSeconds();
    quiet = now === used && encoder.pendingBytes() === 0 ? quiet + 1 : 0;
    used = now;
  }
}

/** Whether a process is alive and no zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('encoder', () => {
  test('[M-40] a killed encoder exits and leaves no process', async () => {
    const { encoder, firstFragment } = startRun();
    encoder.write(SOURCE);
    await firstFragment;
    encoder.kill();
    expect(await encoder.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(existsSync(`/proc/${encoder.pid}`)).toBeFalse();
    expect(encoder.write(SOURCE)).toBeTrue();
    expect(encoder.pendingBytes()).toBe(0);
    await encoder.drained();
    encoder.finish();
    encoder.kill();
  });

  test('[M-40] an encoder that is killed from outside reports its exit', async () => {
    const { encoder, firstFragment } = startRun();
    encoder.write(SOURCE);
    await firstFragment;
    process.kill(encoder.pid, 'SIGSEGV');
    expect(await encoder.exited).toMatchObject({ code: null, signal: 'SIGSEGV' });
  });

  test('[M-42] an encoder reports its last log lines on exit', async () => {
    const { encoder, fragments } = startRun();
    encoder.write(Buffer.alloc(50_000, 'This is no video. '));
    encoder.finish();
    const { code, lastLines } = await encoder.exited;
    expect(code).not.toBe(0);
    expect(lastLines.join('\n')).toContain('pipe:0');
    expect(fragments).toEqual([]);
  });

  test('[M-44] a missing program counts as an encoder that exits', async () => {
    const { encoder } = startRun({ settings: { ...ENCODER_SETTINGS, ffmpeg: '/nowhere/ffmpeg' } });
    encoder.write(SOURCE);
    const { code, lastLines } = await encoder.exited;
    expect(code).toBe(127);
    expect(lastLines.join('\n')).toContain('/nowhere/ffmpeg');
  });

  test('[M-16] an encoder has a limit of 8 GB of address space', async () => {
    const ffmpeg = join(directory, 'ffmpeg');
    writeFileSync(ffmpeg, '#!/bin/sh\nulimit -d >&2\n');
    chmodSync(ffmpeg, 0o755);
    const { encoder } = startRun({ settings: { ...ENCODER_SETTINGS, ffmpeg } });
    expect((await encoder.exited).lastLines).toEqual([String(8 << 20)]);
  });

  test('[M-41] an encoder with invalid output is killed', async () => {
    const ffmpeg = join(directory, 'ffmpeg');
    writeFileSync(ffmpeg, '#!/bin/sh\necho "no valid MP4" >&3\nexec sleep 60\n');
    chmodSync(ffmpeg, 0o755);
    const { encoder, fragments } = startRun({ settings: { ...ENCODER_SETTINGS, ffmpeg } });
    const { signal, lastLines } = await encoder.exited;
    expect(signal).toBe('SIGKILL');
    expect(lastLines.at(-1)).toContain('no fragmented MP4');
    expect(fragments).toEqual([]);
  });

  test('[M-43] an encoder reports frames and CPU time', async () => {
    const { encoder, progress } = startRun();
    encoder.write(SOURCE);
    encoder.finish();
    await encoder.exited;
    expect(progress.at(-1)).toMatchObject({ frames: 60, dropped: 0, duplicated: 0 });
    if (process.platform === 'linux') expect(encoder.cpuSeconds()).toBeGreaterThan(0);
  });

  test('[M-16] a slow encoder applies back pressure, then continues', async () => {
    const { encoder, firstFragment } = startRun();
    encoder.write(SOURCE);
    await firstFragment;
    process.kill(encoder.pid, 'SIGSTOP');
    let written = 0;
    while (encoder.write(new Uint8Array(1_000_000))) written += 1_000_000;
    expect(written).toBeLessThan(8_000_000);
    expect(encoder.pendingBytes()).toBeGreaterThan(2_000_000);
    let isDrained = false;
    const drained = encoder.drained().then(() => {
      isDrained = true;
    });
    expect(isDrained).toBeFalse();
    process.kill(encoder.pid, 'SIGCONT');
    await drained;
    expect(encoder.pendingBytes()).toBeLessThan(4_000_000);
    encoder.kill();
    await encoder.exited;
  });

  test.each([
    ['back', 2_000, 1_000],
    ['far ahead', 1_000, 2_000],
  ])('[M-16] an encoder emits nothing after the source clock jumps %s', async (_, fromS, toS) => {
    const part = (atS: number) =>
      runFfmpeg([
        ...['-f', 'lavfi', '-i', 'testsrc=s=96x54:r=15:d=2'],
        ...['-f', 'lavfi', '-i', 'sine=440:r=48000:d=2'],
        ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-c:a', 'aac'],
        ...['-muxdelay', '0', '-muxpreload', '0', '-output_ts_offset', `${atS}`, '-f', 'mpegts'],
      ]);
    const { encoder, startsS, fragments, firstFragment } = startRun({
      container: 'mpegts',
      source: { ...OPTIONS.source, hasAudio: true },
      startMs: fromS * 1000,
    });
    encoder.write(Buffer.concat([part(fromS), part(toS)]));
    await firstFragment;
    await waitUntilIdle(encoder);
    expect(startsS.length).toBeGreaterThan(1);
    expect(Math.max(...startsS)).toBeLessThan(fromS + 2);
    expect(fragments.filter((track) => track === 'a0').length).toBeLessThan(25);
    encoder.kill();
    expect(await encoder.exited).toMatchObject({ signal: 'SIGKILL' });
  });

  test('[M-16] an encoder over its memory limit is killed', async () => {
    const { encoder } = startRun({}, (run, events) => startEncoder(run, events, 10 << 20));
    encoder.write(SOURCE);
    const { signal, lastLines } = await encoder.exited;
    expect(signal).toBe('SIGKILL');
    expect(lastLines.at(-1)).toBe('the encoder exceeded its memory limit');
  });

  test('[M-40] an encoder exits when the service is killed', async () => {
    const script = `
      const { startEncoder } = await import(${JSON.stringify(new URL('./encoder-ffmpeg.ts', import.meta.url).pathname)});
      const ignore = () => {};
      const encoder = startEncoder(${JSON.stringify(OPTIONS)}, {
        onInits: ignore, onFragment: ignore, onProgress: ignore, onAudioMissing: ignore,
      });
      console.log(encoder.pid);
    `;
    const service = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
    const reader = service.stdout.getReader();
    const { value } = await reader.read();
    const pid = Number(new TextDecoder().decode(value));
    expect(isRunning(pid)).toBeTrue();
    service.kill('SIGKILL');
    await service.exited;
    const untilMs = performance.now() + 10_000;
    while (isRunning(pid) && performance.now() < untilMs) await Bun.sleep(20);
    expect(isRunning(pid)).toBeFalse();
  });
});
