import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { pino } from 'pino';
import { FakeIngest, type FakeSession } from '../../../test/support/media/fake-ingest.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { RELAY_LIMITS } from './caller-relay.ts';
import {
  findFreePort,
  type ListenSrtOptions,
  listenSrt,
  type SrtListener,
} from './srt-listener.ts';

const STREAM = 'stream-1';
const KEY = 'sk_0123456789abcdefghijABCDEFGHIJKL';

let folder: string;
let sample: string;

const listeners: SrtListener[] = [];
const senders: Subprocess[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'srt-'));
  sample = join(folder, 'sample.ts');
  const encoder = Bun.spawn([
    ...['ffmpeg', '-hide_banner', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', 'testsrc=s=192x108:r=15', '-f', 'lavfi', '-i', 'sine', '-t', '4'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-c:a', 'aac', sample],
  ]);
  expect(await encoder.exited).toBe(0);
});

afterEach(async () => {
  for (const sender of senders.splice(0)) {
    sender.kill('SIGKILL');
    await sender.exited;
  }
  for (const listener of listeners.splice(0)) listener.stop();
  for (const socket of sockets.splice(0)) socket.close();
});

afterAll(() => rm(folder, { recursive: true }));

async function startListener(options: Partial<ListenSrtOptions> = {}) {
  const ingest = new FakeIngest(
    new Map([
      [KEY, STREAM],
      ['sk_2', 'stream-2'],
    ]),
  );
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const listener = await listenSrt({
    host: '127.0.0.1',
    port: 0,
    ffmpeg: 'ffmpeg',
    ingest,
    logger,
    ...options,
  });
  listeners.push(listener);
  return { ingest, lines, port: listener.port, listener };
}

interface SendOptions {
  readonly query?: string;
  /** Plays the sample once, and `loops` times more, and writes a copy of the sent bytes to this file. */
  readonly copy?: string;
  readonly loops?: number;
}

function startSender(
  port: number,
  streamId: string,
  { query = '&pkt_size=1316', copy, loops = copy === undefined ? -1 : 0 }: SendOptions = {},
) {
  const url = `srt://127.0.0.1:${port}?streamid=${streamId.replace('#', '%23')}${query}`;
  const copyOutput = copy === undefined ? [] : ['-map', '0', '-c', 'copy', '-f', 'mpegts', copy];
  const sender = Bun.spawn(
    [
      ...['ffmpeg', '-hide_banner', '-nostdin', '-loglevel', 'info', '-y', '-re'],
      ...['-stream_loop', `${loops}`],
      ...['-i', sample, '-map', '0', '-c', 'copy', '-f', 'mpegts', url, ...copyOutput],
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  );
  senders.push(sender);
  return sender;
}

/** Number of decodable frames; checks that all packets can be decoded. */
async function countDecodedFrames(bytes: Uint8Array): Promise<number> {
  const file = join(folder, `${crypto.randomUUID()}.ts`);
  await Bun.write(file, bytes);
  const decoder = Bun.spawn(['ffmpeg', '-v', 'error', '-i', file, '-f', 'framemd5', '-'], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [frames, errors] = await Promise.all([decoder.stdout.text(), decoder.stderr.text()]);
  expect(errors).toBe('');
  return frames.split('\n').filter((line) => /^\d/.test(line)).length;
}

async function startSource(ingest: FakeIngest, port: number, streamId = `publish:${KEY}`) {
  const accepted = ingest.next();
  const sender = startSender(port, streamId);
  const session = await accepted;
  await session.waitForBytes(10_000);
  return { session, sender };
}

/** Expects the sent bytes, except for the end, which a sender discards when it closes. */
async function expectReceived(copy: string, session: FakeSession): Promise<void> {
  const sent = Buffer.from(await Bun.file(copy).arrayBuffer());
  const received = Buffer.from(session.content());
  expect(received.equals(sent.subarray(0, received.length))).toBe(true);
  expect(received.length).toBeGreaterThan(sent.length * 0.7);
}

test.each([`publish:${KEY}`, KEY, `#!::m=publish,r=${KEY}`])(
  '[M-3] media of a sender with stream id %s arrives unchanged and decodes',
  async (streamId) => {
    const { ingest, port } = await startListener();
    const copy = join(folder, `${crypto.randomUUID()}.ts`);
    const accepted = ingest.next();
    startSender(port, streamId, { copy });
    const session = await accepted;
    expect(session.request).toEqual({
      key: KEY,
      kind: 'srt',
      container: 'mpegts',
      address: '127.0.0.1',
    });
    expect(await session.waitForEnd()).toBe('the sender left');
    await expectReceived(copy, session);
    const content = session.content();
    expect(
      await countDecodedFrames(content.subarray(0, content.length - (content.length % 188))),
    ).toBeGreaterThan(150);
  },
);

test('[M-3] several senders share a port, each with its own stream', async () => {
  const { ingest, port } = await startListener();
  const [first, second] = [
    await startSource(ingest, port),
    await startSource(ingest, port, 'publish:sk_2'),
  ];
  expect(first.session.streamId).toBe(STREAM);
  expect(second.session.streamId).toBe('stream-2');
  second.sender.kill('SIGTERM');
  await second.session.waitForEnd();
  await first.session.waitForBytes(first.session.bytes + 10_000);
  expect(first.session.endReason).toBeNull();
});

test.each([
  ['[M-5] a wrong key', 'publish:sk_wrong', 1401],
  ['[M-3] a caller that wants to receive', `#!::m=request,r=${KEY}`, 1405],
  ['[M-3] a stream id without a key', 'publish:', 1400],
])('%s is rejected and logged without the key', async (_, streamId, code) => {
  const { ingest, lines, port } = await startListener();
  const sender = startSender(port, streamId);
  const errorOutput = await sender.stderr.text();
  expect(await sender.exited).toBe(1);
  expect(errorOutput).toContain('Application-defined rejection reason');
  expect(ingest.sessions).toHaveLength(0);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'source refused',
    kind: 'srt',
    address: '127.0.0.1',
    code,
  });
  expect(lines[0]).not.toContain('sk_');
});

/** Binds a loopback port until the end of the test. */
async function takePort(): Promise<number> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket.address().port;
}

test('[M-3] a sender is accepted when the ports of its receiver were taken after they were chosen', async () => {
  const taken = [await takePort(), await takePort()];
  const freePort = async (used: ReadonlySet<number>) => taken.shift() ?? findFreePort(used);
  const { ingest, port, lines } = await startListener({ freePort });
  await startSource(ingest, port);
  expect(taken).toEqual([]);
  expect(lines.filter((line) => line.includes('receiver'))).toEqual([]);
});

test('[M-3] a sender is rejected when all ports of its receiver are taken', async () => {
  const taken = await takePort();
  let attempts = 0;
  const freePort = async () => {
    attempts++;
    return taken;
  };
  const { ingest, port } = await startListener({ freePort });
  const accepted = ingest.next();
  startSender(port, `publish:${KEY}`);
  expect(await (await accepted).waitForEnd()).toContain('receiver exited');
  expect(attempts).toBe(4);
});

test('[M-6] a second source is rejected while the first is live', async () => {
  const { ingest, lines, port } = await startListener();
  const { session } = await startSource(ingest, port);
  const second = startSender(port, `publish:${KEY}`);
  expect(await second.exited).toBe(1);
  expect(JSON.parse(lines[0] ?? '').code).toBe(1409);
  await session.waitForBytes(session.bytes + 10_000);
  expect(session.endReason).toBeNull();
});

test('[M-3] a sender with a passphrase is rejected', async () => {
  const { lines, port } = await startListener();
  const sender = startSender(port, `publish:${KEY}`, { query: '&passphrase=0123456789' });
  const errorOutput = await sender.stderr.text();
  expect(await sender.exited).toBe(1);
  expect(errorOutput).toContain('Password required or unexpected');
  expect(JSON.parse(lines[0] ?? '').reason).toContain('passphrase');
});

test('[M-3] a source ends at once when its sender closes, and within seconds when it is killed', async () => {
  const { ingest, port } = await startListener({ limits: { ...RELAY_LIMITS, idleMs: 1_000 } });
  const leaving = await startSource(ingest, port);
  leaving.sender.kill('SIGTERM');
  expect(await leaving.session.waitForEnd()).toBe('the sender left');
  const killed = await startSource(ingest, port);
  killed.sender.kill('SIGKILL');
  expect(await killed.session.waitForEnd()).toBe('timeout: the sender is silent');
});

test('[M-3] senders are shut down when the service ends a source or stops', async () => {
  const { ingest, port, listener } = await startListener();
  const first = await startSource(ingest, port);
  first.session.close('The stream has ended.');
  expect(await first.sender.exited).toBe(1);
  const second = await startSource(ingest, port, 'publish:sk_2');
  listener.stop();
  expect(await second.sender.exited).toBe(1);
  expect(second.session.endReason).toBe('the service is stopping');
});

test('[M-3] a stalled encoder ends the source, a slow one does not', async () => {
  const { ingest, port } = await startListener({
    limits: { ...RELAY_LIMITS, backPressureMs: 300 },
  });
  const { session, sender } = await startSource(ingest, port);
  session.acceptsMore = false;
  await session.waitForBytes(session.bytes + 1);
  session.drain();
  await session.waitForBytes(session.bytes + 10_000);
  session.acceptsMore = false;
  expect(await session.waitForEnd()).toBe('the encoder is too slow');
  expect(await sender.exited).toBe(1);
});

test('[M-16] a receiver that fails to start rejects the sender and logs its last lines', async () => {
  const broken = join(folder, 'broken-ffmpeg');
  await Bun.write(
    broken,
    '#!/bin/sh\n[ "$2" = -protocols ] && echo srt || { echo no >&2; exit 1; }',
  );
  await Bun.$`chmod +x ${broken}`;
  const { ingest, lines, port } = await startListener({ ffmpeg: broken });
  const accepted = ingest.next();
  const sender = startSender(port, `publish:${KEY}`);
  expect(await (await accepted).waitForEnd()).toBe('the receiver exited before any data arrived');
  expect(await sender.exited).toBe(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ lines: ['no'] });
});

/** A UDP proxy that drops datagrams. @param isLost whether to drop the datagram of this number */
async function startLossyProxy(port: number, isLost: (n: number) => boolean): Promise<number> {
  const outside = createSocket('udp4');
  const inside = createSocket('udp4');
  sockets.push(outside, inside);
  let senderPort = 0;
  let n = 0;
  outside.on('message', (datagram, from) => {
    senderPort = from.port;
    if (!isLost(n++)) inside.send(datagram, port, '127.0.0.1');
  });
  inside.on('message', (datagram) => {
    if (!isLost(n++)) outside.send(datagram, senderPort, '127.0.0.1');
  });
  await new Promise<void>((resolve) => inside.bind(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => outside.bind(0, '127.0.0.1', resolve));
  return outside.address().port;
}

test('[M-3] media arrives complete with 3 % datagram loss', async () => {
  const { ingest, port } = await startListener();
  const random = seededRandom(4);
  let lost = 0;
  const proxyPort = await startLossyProxy(port, (n) => {
    // Keep the handshake, whose retry timeouts are long.
    const isLost = n > 10 && random() < 0.03;
    if (isLost) lost++;
    return isLost;
  });
  const copy = join(folder, 'lossy.ts');
  const accepted = ingest.next();
  const query = '&latency=500000&pkt_size=188';
  startSender(proxyPort, `publish:${KEY}`, { copy, query, loops: 1 });
  const session = await accepted;
  await session.waitForEnd();
  expect(lost).toBeGreaterThan(10);
  await expectReceived(copy, session);
});

test('[M-16] malformed datagrams have no effect, from other clients or from a sender', async () => {
  const { ingest, lines, port } = await startListener();
  const { session } = await startSource(ingest, port);
  const random = seededRandom(5);
  const client = createSocket('udp4');
  sockets.push(client);
  await new Promise<void>((resolve) => client.bind(0, '127.0.0.1', resolve));
  let answers = 0;
  client.on('message', () => answers++);
  for (let n = 0; n < 3_000; n++) {
    const garbage = Buffer.from(
      Uint8Array.from({ length: random() * 1_600 }, () => random() * 256),
    );
    // Half of them start like a handshake of either type, without a valid cookie.
    if (n % 2 && garbage.length >= 64) {
      garbage.writeUInt32BE(0x80000000);
      garbage.writeUInt32BE(n % 3 === 0 ? 1 : 0xffffffff, 36);
    }
    client.send(garbage, port, '127.0.0.1');
    if (n % 100 === 0) await session.waitForBytes(session.bytes + 1);
  }
  await session.waitForBytes(session.bytes + 10_000);
  expect(session.endReason).toBeNull();
  expect(ingest.requests).toHaveLength(1);
  expect(lines).toHaveLength(0);
  expect(answers).toBeLessThan(3_000 / 4);
});

test('[M-16] callers above the rate limit are rejected', async () => {
  const { ingest, port } = await startListener({ rate: { points: 1, durationS: 60 } });
  await startSource(ingest, port);
  const second = startSender(port, 'publish:sk_2');
  expect(await second.exited).toBe(1);
  expect(ingest.requests).toHaveLength(1);
});

test('[M-44] a missing ffmpeg, or one without SRT, gives a one-line error', async () => {
  const failing = (ffmpeg: string) => startListener({ ffmpeg }).catch((error) => error.message);
  expect(await failing('/nowhere/ffmpeg')).toContain('install ffmpeg');
  expect(await failing('true')).toContain('libsrt');
});

test('[M-3] a port in use gives a one-line error', async () => {
  const { port } = await startListener();
  const error = await startListener({ port }).catch((error) => error.message);
  expect(error).toContain('--srt-port');
});

test('[M-3] the listener uses all addresses without a host', async () => {
  const { ingest, port } = await startListener({ host: null });
  const { session } = await startSource(ingest, port);
  expect(session.request.address).toBe('127.0.0.1');
});
