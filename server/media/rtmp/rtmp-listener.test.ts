import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { FakeIngest } from '../../../test/support/media/fake-ingest.ts';
import { listenRtmp, type RtmpListener } from './rtmp-listener.ts';

const KEY = 'sk_0123456789abcdefghijABCDEFGHIJ';
const directory = mkdtempSync(join(tmpdir(), 'fourbeat-rtmp-'));
const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
const senders: Bun.Subprocess[] = [];
let ingest: FakeIngest;
let keys: Map<string, string>;
let listener: RtmpListener;

/** Test files: frame rate, encoder options, and whether they have audio. */
const SOURCES = {
  plain: { rate: 15, options: ['-bf', '2'], hasAudio: true },
  silent: { rate: 15, options: [], hasAudio: false },
  fast: { rate: 60, options: [], hasAudio: true },
  heavy: { rate: 15, options: ['-qp', '0', '-vf', 'noise=alls=100:allf=t'], hasAudio: false },
} as const;

beforeAll(async () => {
  await Promise.all(
    Object.entries(SOURCES).map(([name, { rate, options, hasAudio }]) => {
      const video = ['-f', 'lavfi', '-i', `testsrc2=size=192x108:rate=${rate}:duration=3`];
      const audio = hasAudio ? ['-f', 'lavfi', '-i', 'sine=duration=3', '-c:a', 'aac'] : [];
      const encode = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', String(rate), ...options];
      return run('ffmpeg', [...video, ...audio, ...encode, pathOf(name)]);
    }),
  );
});

beforeEach(async () => {
  lines.length = 0;
  keys = new Map([[KEY, 'stream']]);
  ingest = new FakeIngest(keys);
  listener = await listenRtmp({ host: '127.0.0.1', port: 0, ingest, logger });
});

afterEach(async () => {
  for (const sender of senders.splice(0)) {
    sender.kill('SIGKILL');
    await sender.exited;
  }
  await listener.stop();
});

afterAll(() => rmSync(directory, { recursive: true }));

const pathOf = (name: string) => join(directory, `${name}.flv`);

async function run(program: string, args: readonly string[]): Promise<string> {
  const child = Bun.spawn([program, '-v', 'error', ...args], { stdout: 'pipe', stderr: 'inherit' });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text;
}

function send(name: string, options: SendOptions = {}) {
  const { path = `live/${KEY}`, input = ['-re'], output = [] } = options;
  const url = `rtmp://127.0.0.1:${listener.port}/${path}`;
  const from = [...input, '-i', pathOf(name), '-c', 'copy'];
  const sender = Bun.spawn(
    ['ffmpeg', '-v', 'error', '-nostdin', ...from, ...output, '-f', 'flv', url],
    { stdout: 'ignore', stderr: 'pipe' },
  );
  senders.push(sender);
  return sender;
}

interface SendOptions {
  readonly path?: string;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
}

/** Stream, times and size of every packet. */
function packets(path: string): Promise<string> {
  const entries = 'packet=stream_index,pts,dts,size,flags,data_hash';
  return run('ffprobe', ['-show_data_hash', 'md5', '-show_entries', entries, '-of', 'csv', path]);
}

async function expectSamePackets(name: string, bytes: Uint8Array): Promise<void> {
  const received = join(directory, `${crypto.randomUUID()}.flv`);
  await Bun.write(received, bytes);
  const sent = await packets(pathOf(name));
  expect(sent.split('\n').length).toBeGreaterThan(40);
  expect(await packets(received)).toBe(sent);
}

describe('[M-2] media arrives unchanged', () => {
  test.each([
    ['video and audio', 'plain', {}],
    ['no audio', 'silent', {}],
    ['60 frames a second', 'fast', {}],
    ['live', 'plain', { output: ['-rtmp_live', 'live'] }],
    ['without a duration', 'plain', { output: ['-flvflags', 'no_duration_filesize'] }],
    [
      'the key within the app',
      'plain',
      { output: ['-rtmp_app', `live/${KEY}`, '-rtmp_playpath', ''] },
    ],
    ['a query after the key', 'plain', { path: `live/${KEY}?backup=1` }],
    ['another app', 'plain', { path: `a/b/${KEY}` }],
  ] as const)('media arrives unchanged: %s', async (_, name, options) => {
    const accepted = ingest.next();
    const sender = send(name, { ...options, input: [] });
    const session = await accepted;
    expect(ingest.requests[0]).toMatchObject({
      key: KEY,
      kind: 'rtmp',
      container: 'flv',
      address: '127.0.0.1',
    });
    expect(await sender.exited).toBe(0);
    expect(await session.waitForEnd()).toBe('the source stopped publishing');
    await expectSamePackets(name, session.content());
  });
});

test('[M-5] a wrong key is refused and logged without the key', async () => {
  const sender = send('plain', { path: 'live/sk_wrong' });
  expect(await sender.exited).not.toBe(0);
  expect(await new Response(sender.stderr).text()).toContain('No stream has this key.');
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries).toMatchObject([{ address: '127.0.0.1', reason: 'No stream has this key.' }]);
  expect(lines.join()).not.toContain('sk_');
});

test('[M-6] a second source is refused, and the first continues', async () => {
  const accepted = ingest.next();
  const first = send('plain');
  const session = await accepted;
  const second = send('silent');
  expect(await second.exited).not.toBe(0);
  expect(await new Response(second.stderr).text()).toContain('The stream has a source.');
  expect(await first.exited).toBe(0);
  await session.waitForEnd();
  await expectSamePackets('plain', session.content());
});

test('[M-1] a rotated key is refused, and the source with the old key continues', async () => {
  const accepted = ingest.next();
  const first = send('plain');
  const session = await accepted;
  keys.clear();
  keys.set('sk_new', 'another');
  expect(await send('silent').exited).not.toBe(0);
  expect(await send('silent', { path: 'live/sk_new', input: [] }).exited).toBe(0);
  expect(await first.exited).toBe(0);
  await session.waitForEnd();
  await expectSamePackets('plain', session.content());
});

test('[M-7] a killed sender counts as disconnected', async () => {
  const accepted = ingest.next();
  const sender = send('plain');
  const session = await accepted;
  await session.waitForBytes(10_000);
  sender.kill('SIGKILL');
  expect(await session.waitForEnd()).toBe('connection lost');
});

test('a source that the service ends gets the reason', async () => {
  const accepted = ingest.next();
  const sender = send('plain');
  const session = await accepted;
  await session.waitForBytes(10_000);
  session.close('The stream has ended.');
  expect(await sender.exited).not.toBe(0);
  expect(await new Response(sender.stderr).text()).toContain('The stream has ended.');
});

test('a sender under back-pressure waits and loses no frame', async () => {
  const accepted = ingest.next();
  const repeats = 40;
  // Without pacing, and more than the kernel buffers hold.
  const sender = send('heavy', { input: ['-stream_loop', String(repeats - 1)] });
  const session = await accepted;
  session.acceptsMore = false;
  await session.waitForBytes(1);
  const exitedEarly = await Promise.race([sender.exited, Bun.sleep(1_000)]);
  expect(exitedEarly).toBeUndefined();
  expect(session.bytes).toBeLessThan(2 << 20);
  session.drain();
  expect(await sender.exited).toBe(0);
  await session.waitForEnd();
  const received = join(directory, 'held.flv');
  await Bun.write(received, session.content());
  const sizes = async (path: string) =>
    (await run('ffprobe', ['-show_entries', 'packet=size', '-of', 'csv=p=0', path])).trim();
  const once = await sizes(pathOf('heavy'));
  expect(await sizes(received)).toBe(Array(repeats).fill(once).join('\n'));
});

test('stop ends all RTMP sources and closes the port', async () => {
  const accepted = ingest.next();
  const sender = send('plain');
  const session = await accepted;
  await session.waitForBytes(10_000);
  await listener.stop();
  expect(session.endReason).toBe('The service is stopping; connect again.');
  expect(await sender.exited).not.toBe(0);
  await expect(fetch(`http://127.0.0.1:${listener.port}`)).rejects.toThrow();
});

test('an RTMP port in use gives a one-line error', async () => {
  const secondListener = listenRtmp({ host: '127.0.0.1', port: listener.port, ingest, logger });
  await expect(secondListener).rejects.toThrow(
    `port ${listener.port} is in use; stop what uses it, or choose another with --rtmp-port`,
  );
});

test('an address of another machine gives a one-line error', async () => {
  const otherAddress = listenRtmp({ host: '192.0.2.1', port: 0, ingest, logger });
  await expect(otherAddress).rejects.toThrow('cannot listen for RTMP on --host 192.0.2.1, port 0');
});
