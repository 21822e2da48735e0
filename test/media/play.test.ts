import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../server/cli/program.ts';
import { IS_FULL_RUN } from '../support/full-run.ts';
import { AHEAD_MS, FakeService, STREAM, TOKEN } from '../support/media/fake-service.ts';
import {
  AUDIO_INPUT,
  countFrames,
  decodeErrors,
  H264_ENCODER,
  probePackets,
  runFfmpeg,
  VIDEO_INPUT,
} from '../support/media/ffmpeg-fixture.ts';
import { readPicture } from '../support/media/read-test-picture.ts';

const MAIN = join(import.meta.dir, '..', '..', 'server', 'main.ts');
const directory = mkdtempSync(join(tmpdir(), 'fourbeat-play-'));
const SIZE = { width: 320, height: 180 };
const FILE_MS = 1_200;
const FILE_FRAMES = (15 * FILE_MS) / 1_000;

const started = new Set<Bun.Subprocess>();
let service: FakeService;

beforeAll(async () => {
  service = await FakeService.start();
  const length = ['-t', String(FILE_MS / 1_000)];
  const audio = ['-c:a', 'aac'];
  file(
    'show.mkv',
    runFfmpeg([
      ...VIDEO_INPUT,
      ...AUDIO_INPUT,
      ...length,
      ...H264_ENCODER,
      ...audio,
      '-f',
      'matroska',
    ]),
  );
  const rareCodecs = ['-c:v', 'wmv2', '-c:a', 'wmav2', '-f', 'asf'];
  file('rareCodecs.wmv', runFfmpeg([...VIDEO_INPUT, ...AUDIO_INPUT, ...length, ...rareCodecs]));
  file('audio.mkv', runFfmpeg([...AUDIO_INPUT, ...length, ...audio, '-f', 'matroska']));
  const concat = 'ffconcat version 1.0\nfile show.mkv\n';
  file('playlist.mp4', new TextEncoder().encode(concat));
  file('text.mp4', new TextEncoder().encode('This is no video at all.\n'.repeat(100)));
});

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
  service.ingest.refusal = null;
  service.status = 'CREATED';
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, bytes: Uint8Array): void {
  writeFileSync(join(directory, name), bytes);
}

function startPlay(...args: string[]) {
  const common = ['--stream', STREAM, '--url', service.url, '--token', TOKEN];
  const child = Bun.spawn([process.execPath, MAIN, 'media', 'play', ...args, ...common], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  return child;
}

async function outcomeOf(child: ReturnType<typeof startPlay>) {
  const [output, errorOutput] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, output, errorOutput };
}

const play = (...args: string[]) => outcomeOf(startPlay(...args));

/** Times that the frames show, and their presentation times in the container. */
function frameTimesOf(content: Uint8Array): { atMs: number; unixMs: number | undefined }[] {
  // Dropped frames must not be filled in.
  const plain = [
    '-i',
    'pipe:0',
    '-an',
    '-vsync',
    'passthrough',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'gray',
  ];
  const pixels = runFfmpeg(plain, content);
  const times = probePackets(content).filter(({ type }) => type === 'video');
  const bytes = SIZE.width * SIZE.height;
  return times.map(({ ptsMs }, frame) => {
    const data = pixels.subarray(frame * bytes, (frame + 1) * bytes);
    return { atMs: ptsMs, unixMs: readPicture({ ...SIZE, data, format: 'luma' })?.unixMs };
  });
}

function childrenOf(pid: number): number[] {
  const { stdout } = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid=,stat=']);
  return stdout
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'))
    .map(([child]) => Number(child));
}

function isRunning(pid: number): boolean {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)]);
  const state = stdout.toString().trim();
  return state !== '' && !state.startsWith('Z');
}

describe('a file', () => {
  test('[M-9] a file is played once, in real time and unchanged, and the program exits with status 0', async () => {
    const connected = service.ingest.next();
    const startMs = performance.now();
    const starts = service.starts;
    const child = startPlay('show.mkv');
    const session = await connected;
    expect(await outcomeOf(child)).toMatchObject({
      status: 0,
      output: 'Live\nThe file has ended\n',
      errorOutput: '',
    });
    expect(session.request.kind).toBe('media-play');
    // Without `autoStart` the sender starts the show.
    expect(service.starts).toBe(starts + 1);
    expect(performance.now() - startMs).toBeGreaterThan(FILE_MS * 0.8);
    expect(await session.waitForEnd()).toBeString();
    const content = session.content();
    expect(decodeErrors(content)).toBe('');
    expect(countFrames(content)).toBe(FILE_FRAMES);
    const types = probePackets(content).map(({ type }) => type);
    expect(types).toContain('audio');
  });

  test('[M-9] a file with `--loop` is repeated until Ctrl-C', async () => {
    const connected = service.ingest.next();
    const child = startPlay('show.mkv', '--loop');
    const session = await connected;
    const once = Bun.file(join(directory, 'show.mkv')).size;
    await session.waitForBytes(once * 2.2);
    child.kill('SIGINT');
    expect(await outcomeOf(child)).toMatchObject({ status: 0, output: 'Live\n', errorOutput: '' });
    await session.waitForEnd();
    const times = probePackets(session.content()).filter(({ type }) => type === 'video');
    expect(times.length).toBeGreaterThan(2 * FILE_FRAMES);
    const shown = times.map(({ ptsMs }) => ptsMs).sort((a, b) => a - b);
    // The last frame in the stream may come before two B-frames that the stop cuts off.
    for (const [index, ms] of shown.slice(0, -3).entries()) {
      if (index > 0) expect(ms - (shown[index - 1] ?? 0)).toBeWithin(1, 200);
    }
  });

  if (IS_FULL_RUN) {
    test('[M-9] a file with rare codecs is transcoded', async () => {
      const connected = service.ingest.next();
      const child = startPlay('rareCodecs.wmv');
      const session = await connected;
      expect(await outcomeOf(child)).toMatchObject({ status: 0 });
      expect(decodeErrors(session.content())).toBe('');
      expect(countFrames(session.content())).toBeWithin(FILE_FRAMES - 2, FILE_FRAMES + 1);
    });
  }

  test.each([
    ['nowhere.mp4', 'file not found: nowhere.mp4'],
    ['audio.mkv', 'audio.mkv has no video'],
    ['text.mp4', 'text.mp4'],
    ['playlist.mp4', 'playlist.mp4 is no video but a playlist of other files'],
  ])('[M-9] %s cannot be played: one line states the reason', async (name, text) => {
    const { status, output, errorOutput } = await play(name);
    expect([status, output]).toEqual([1, '']);
    expect(errorOutput).toMatch(/^fourbeat: [^\n]+\n$/);
    expect(errorOutput).toContain(text);
  });
});

describe('the test picture', () => {
  test('[M-45] the test picture shows the service time at which it is sent, with exact timestamps', async () => {
    const connected = service.ingest.next();
    const child = startPlay('--size', '320x180', '--fps', '20');
    const session = await connected;
    const beginMs = Date.now() + AHEAD_MS;
    await session.waitForBytes(60_000);
    child.kill('SIGINT');
    expect(await outcomeOf(child)).toMatchObject({ status: 0, errorOutput: '' });
    const endMs = Date.now() + AHEAD_MS;
    const content = session.content();
    expect(decodeErrors(content)).toBe('');
    const frameTimes = frameTimesOf(content);
    const first = frameTimes[0];
    if (first?.unixMs === undefined) throw new Error('the first frame is not read');
    expect(frameTimes.length).toBeGreaterThan(10);
    for (const { atMs, unixMs } of frameTimes) {
      expect(unixMs).toBe(first.unixMs + atMs - first.atMs);
      expect(unixMs).toBeWithin(beginMs - 1_000, endMs);
    }
    expect(probePackets(content).some(({ type }) => type === 'audio')).toBe(true);
  });

  if (IS_FULL_RUN) {
    test('[M-9] the test picture keeps running while the service is unavailable, and reconnects', async () => {
      const connected = service.ingest.next();
      const child = startPlay('--size', '320x180', '--fps', '10');
      const first = await connected;
      await first.waitForBytes(20_000);
      await service.stop();
      await first.waitForEnd();
      const reconnected = service.ingest.next();
      service.listen();
      const second = await reconnected;
      await second.waitForBytes(20_000);
      child.kill('SIGTERM');
      const { status, output } = await outcomeOf(child);
      expect(status).toBe(0);
      expect(output).toMatch(/^Live\nConnection lost: [^\n]+\nLive again\n$/);
      await second.waitForEnd();
      const [before, after] = [frameTimesOf(first.content()), frameTimesOf(second.content())];
      // The encoder keeps running: its timestamps and the shown times continue.
      const begin = before[0];
      const next = after[0];
      if (begin?.unixMs === undefined || next?.unixMs === undefined) throw new Error('not read');
      expect(next.atMs).toBeGreaterThan(before.at(-1)?.atMs ?? 0);
      expect(next.unixMs - begin.unixMs).toBe(next.atMs - begin.atMs);
      expect(decodeErrors(second.content())).toBe('');
    });
  }

  test('[M-9] `media play` leaves no encoder process when it is killed', async () => {
    const connected = service.ingest.next();
    const child = startPlay('--size', '320x180');
    const session = await connected;
    await session.waitForBytes(5_000);
    const children = childrenOf(child.pid);
    expect(children.length).toBe(1);
    child.kill('SIGKILL');
    await session.waitForEnd();
    while (children.some(isRunning)) await Bun.sleep(20);
  });
});

describe('a target that cannot be used', () => {
  const other = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a02';

  test.each([
    ['another stream', ['--stream', other], 'check --stream'],
    ['a wrong token', ['--token', 'fb_wrong'], '--token or FOURBEAT_TOKEN'],
    ['no service', ['--url', 'http://127.0.0.1:1'], 'is it running?'],
    ['no ffmpeg', ['--ffmpeg', '/nowhere/ffmpeg'], 'Install it: '],
    [
      'no database',
      ['--token', '', '--data', join(tmpdir(), 'fourbeat-none')],
      'there is no database in',
    ],
  ])('[M-9] [M-44] %s gives one line that states what to do', async (_, args, text) => {
    const common = ['--stream', STREAM, '--url', service.url, '--token', TOKEN];
    const printed: string[] = [];
    const errors: string[] = [];
    const status = await runCommandLine(['media', 'play', ...common, ...args], {
      print: (text) => printed.push(text),
      printError: (text) => errors.push(text),
      env: {},
    });
    expect([status, printed]).toEqual([1, []]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^fourbeat: [^\n]+$/);
    expect(errors[0]).toContain(text);
  });

  test.each([
    ['busy', 'Refused: busy.'],
    ['ended', 'the stream has ended'],
    ['unknown-key', 'the stream key was rejected'],
  ] as const)(
    '[M-9] a stream that is %s ends the program with a message',
    async (refusal, text) => {
      service.ingest.refusal = refusal;
      const { status, errorOutput } = await play();
      expect(status).toBe(1);
      expect(errorOutput).toContain(text);
    },
  );

  test('[M-9] a stream that ends stops the program with status 0', async () => {
    const connected = service.ingest.next();
    const child = startPlay('--size', '320x180');
    const session = await connected;
    await session.waitForBytes(5_000);
    service.ingest.refusal = 'ended';
    session.close('The stream has ended.');
    const { status, output } = await outcomeOf(child);
    expect(status).toBe(0);
    expect(output).toEndWith('The stream has ended\n');
  });
});
