import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AHEAD_MS, FakeService, STREAM, TOKEN } from '../support/media/fake-service.ts';
import {
  complaints,
  H264,
  made,
  PICTURE,
  picturesIn,
  probed,
  TONE,
} from '../support/media/made-with-ffmpeg.ts';
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
  const sound = ['-c:a', 'aac'];
  file('show.mkv', made([...PICTURE, ...TONE, ...length, ...H264, ...sound, '-f', 'matroska']));
  const old = ['-c:v', 'wmv2', '-c:a', 'wmav2', '-f', 'asf'];
  file('old.wmv', made([...PICTURE, ...TONE, ...length, ...old]));
  file('sound.mkv', made([...TONE, ...length, ...sound, '-f', 'matroska']));
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
  const [output, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, output, complaint };
}

const play = (...args: string[]) => outcomeOf(startPlay(...args));

/** The moments that a test picture shows, and its times in the container. */
function momentsIn(content: Uint8Array): { atMs: number; unixMs: number | undefined }[] {
  // Frames that were left out are not to be filled in.
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
  const pixels = made(plain, content);
  const times = probed(content).filter(({ type }) => type === 'video');
  const bytes = SIZE.width * SIZE.height;
  return times.map(({ ptsMs }, frame) => {
    const data = pixels.subarray(frame * bytes, (frame + 1) * bytes);
    return { atMs: ptsMs, unixMs: readPicture({ ...SIZE, data, format: 'luma' })?.unixMs };
  });
}

/** Processes that a process has started and that run. */
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
  test('[M-9] is played once, in real time and unchanged, and then it ends with 0', async () => {
    const taken = service.ingest.next();
    const startMs = performance.now();
    const child = startPlay('show.mkv');
    const session = await taken;
    expect(await outcomeOf(child)).toMatchObject({
      status: 0,
      output: 'live\nthe file has ended\n',
      complaint: '',
    });
    expect(performance.now() - startMs).toBeGreaterThan(FILE_MS * 0.8);
    expect(await session.left()).toBeString();
    const content = session.content();
    expect(complaints(content)).toBe('');
    expect(picturesIn(content)).toBe(FILE_FRAMES);
    const types = probed(content).map(({ type }) => type);
    expect(types).toContain('audio');
  });

  test('[M-9] is played over and over, until Ctrl-C', async () => {
    const taken = service.ingest.next();
    const child = startPlay('show.mkv', '--loop');
    const session = await taken;
    const once = Bun.file(join(directory, 'show.mkv')).size;
    await session.received(once * 2.2);
    child.kill('SIGINT');
    expect(await outcomeOf(child)).toMatchObject({ status: 0, output: 'live\n', complaint: '' });
    await session.left();
    const times = probed(session.content()).filter(({ type }) => type === 'video');
    expect(times.length).toBeGreaterThan(2 * FILE_FRAMES);
    const shown = times.map(({ ptsMs }) => ptsMs).sort((a, b) => a - b);
    for (const [place, ms] of shown.entries()) {
      if (place > 0) expect(ms - (shown[place - 1] ?? 0)).toBeWithin(1, 200);
    }
  });

  test('[M-9] whose codecs are rare is encoded anew', async () => {
    const taken = service.ingest.next();
    const child = startPlay('old.wmv');
    const session = await taken;
    expect(await outcomeOf(child)).toMatchObject({ status: 0 });
    expect(complaints(session.content())).toBe('');
    expect(picturesIn(session.content())).toBeWithin(FILE_FRAMES - 2, FILE_FRAMES + 1);
  });

  test.each([
    ['nowhere.mp4', 'there is no file nowhere.mp4'],
    ['sound.mkv', 'sound.mkv has no video'],
    ['text.mp4', 'text.mp4'],
  ])('[M-9] %s cannot be played: one line says why', async (name, why) => {
    const { status, output, complaint } = await play(name);
    expect([status, output]).toEqual([1, '']);
    expect(complaint).toMatch(/^fourbeat: [^\n]+\n$/);
    expect(complaint).toContain(why);
  });
});

describe('the test picture', () => {
  test('[M-45] shows service time, at which it is sent, and has its times right', async () => {
    const taken = service.ingest.next();
    const child = startPlay('--size', '320x180', '--fps', '20');
    const session = await taken;
    const beginMs = Date.now() + AHEAD_MS;
    await session.received(60_000);
    child.kill('SIGINT');
    expect(await outcomeOf(child)).toMatchObject({ status: 0, complaint: '' });
    const endMs = Date.now() + AHEAD_MS;
    const content = session.content();
    expect(complaints(content)).toBe('');
    const moments = momentsIn(content);
    const first = moments[0];
    if (first?.unixMs === undefined) throw new Error('the first frame is not read');
    expect(moments.length).toBeGreaterThan(10);
    for (const { atMs, unixMs } of moments) {
      expect(unixMs).toBe(first.unixMs + atMs - first.atMs);
      expect(unixMs).toBeWithin(beginMs - 1_000, endMs);
    }
    expect(probed(content).some(({ type }) => type === 'audio')).toBe(true);
  });

  test('[M-9] runs on while the service is unavailable, and is live again by itself', async () => {
    const taken = service.ingest.next();
    const child = startPlay('--size', '320x180', '--fps', '10');
    const first = await taken;
    await first.received(20_000);
    await service.stop();
    await first.left();
    const again = service.ingest.next();
    service.listen();
    const second = await again;
    await second.received(20_000);
    child.kill('SIGTERM');
    const { status, output } = await outcomeOf(child);
    expect(status).toBe(0);
    expect(output).toMatch(/^live\nthe connection is gone: [^\n]+\nlive again\n$/);
    await second.left();
    const [before, after] = [momentsIn(first.content()), momentsIn(second.content())];
    // One encoder: its times go on, and so does what it shows.
    const begin = before[0];
    const next = after[0];
    if (begin?.unixMs === undefined || next?.unixMs === undefined) throw new Error('not read');
    expect(next.atMs).toBeGreaterThan(before.at(-1)?.atMs ?? 0);
    expect(next.unixMs - begin.unixMs).toBe(next.atMs - begin.atMs);
    expect(complaints(second.content())).toBe('');
  });

  test('[M-9] that is killed leaves no encoder behind', async () => {
    const taken = service.ingest.next();
    const child = startPlay('--size', '320x180');
    const session = await taken;
    await session.received(5_000);
    const children = childrenOf(child.pid);
    expect(children.length).toBe(1);
    child.kill('SIGKILL');
    await session.left();
    while (children.some(isRunning)) await Bun.sleep(20);
  });
});

describe('what cannot be sent to', () => {
  const other = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a02';

  test.each([
    ['another stream', ['--stream', other], 'look at --stream'],
    ['a wrong token', ['--token', 'fb_wrong'], '--token or FOURBEAT_TOKEN'],
    ['no service', ['--url', 'http://127.0.0.1:1'], 'is it running?'],
    ['no ffmpeg', ['--ffmpeg', '/nowhere/ffmpeg'], 'Install it: '],
    ['no record', ['--token', '', '--data', join(tmpdir(), 'fourbeat-none')], 'holds no record'],
  ])('[M-9] [M-44] %s is told in one line that says what to do', async (_, args, why) => {
    const common = ['--stream', STREAM, '--url', service.url, '--token', TOKEN];
    const child = Bun.spawn([process.execPath, MAIN, 'media', 'play', ...common, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, FOURBEAT_TOKEN: '' },
    });
    started.add(child);
    const { status, output, complaint } = await outcomeOf(child);
    expect([status, output]).toEqual([1, '']);
    expect(complaint).toMatch(/^fourbeat: [^\n]+\n$/);
    expect(complaint).toContain(why);
  });

  test.each([
    ['busy', 'has a source already'],
    ['ended', 'the stream has ended'],
    ['unknown-key', 'the stream key was refused'],
  ] as const)('[M-9] a stream that is %s', async (refusal, why) => {
    service.ingest.refusal = refusal;
    const { status, complaint } = await play();
    expect(status).toBe(1);
    expect(complaint).toContain(why);
  });

  test('[M-9] a stream that ends ends it, with 0', async () => {
    const taken = service.ingest.next();
    const child = startPlay('--size', '320x180');
    const session = await taken;
    await session.received(5_000);
    service.ingest.refusal = 'ended';
    session.close('The stream has ended.');
    const { status, output } = await outcomeOf(child);
    expect(status).toBe(0);
    expect(output).toEndWith('the stream has ended\n');
  });
});
