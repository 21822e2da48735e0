import { afterEach, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { BunRequest, Server } from 'bun';
import { pino } from 'pino';
import { FakeIngest } from '../../../test/support/media/fake-ingest.ts';
import { INGEST_PATH, WebSocketIngest, type WebSocketIngestOptions } from './websocket-ingest.ts';
import { SOURCE_LIMITS, truncateReason, type WebSocketSource } from './websocket-source.ts';

const STREAM = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a01';
const OTHER = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a02';
const KEY = 'sk_0123456789abcdefghijABCDEFGHIJKL';
const FIRST_MESSAGE = JSON.stringify({ key: KEY, type: 'video/webm;codecs=vp8,opus' });

const servers: { server: Server<WebSocketSource>; ws: WebSocketIngest }[] = [];

afterEach(async () => {
  for (const { server, ws } of servers.splice(0)) {
    await ws.stop();
    await server.stop(true);
  }
});

function startServer(options: Partial<WebSocketIngestOptions> = {}) {
  const ingest = new FakeIngest(
    new Map([
      [KEY, STREAM],
      ['sk_other', OTHER],
    ]),
  );
  const lines: string[] = [];
  const ws = new WebSocketIngest({
    ingest,
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    addressOf: () => '192.0.2.1',
    corsOrigin: '*',
    log: {
      requestId: () => 'request-1',
      logDefect: (...of) => void lines.push(JSON.stringify(of)),
    },
    ...options,
  });
  const server = Bun.serve<WebSocketSource, string>({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      [INGEST_PATH]: (request: BunRequest<string>, server) => ws.upgrade(request, server),
    },
    websocket: ws.handlers,
  });
  servers.push({ server, ws });
  const url = new URL(`/media/${STREAM}/ingest`, server.url);
  return { ingest, lines, ws, server, url };
}

/** A sender that records messages and the close of its socket. */
class Sender {
  readonly socket: WebSocket;
  readonly opened: Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly messages: unknown[] = [];
  private readonly waiting: ((message: unknown) => void)[] = [];

  constructor(url: URL, options: { headers?: Record<string, string> } = {}) {
    this.socket = new WebSocket(url.href.replace(/^http/, 'ws'), options);
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<{ code: number; reason: string }>();
    this.opened = opened.promise;
    this.closed = closed.promise;
    this.socket.onopen = () => opened.resolve();
    this.socket.onclose = ({ code, reason }) => closed.resolve({ code, reason });
    this.socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data));
      const resolve = this.waiting.shift();
      if (resolve) resolve(message);
      else this.messages.push(message);
    };
  }

  async send(message: string | Uint8Array<ArrayBuffer>): Promise<void> {
    await this.opened;
    this.socket.send(message);
  }

  next(): Promise<unknown> {
    if (this.messages.length > 0) return Promise.resolve(this.messages.shift());
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

async function goLive(url: URL): Promise<Sender> {
  const sender = new Sender(url);
  await sender.send(FIRST_MESSAGE);
  expect(await sender.next()).toEqual({ state: 'live' });
  return sender;
}

test('[M-4] media arrives unchanged after the first message and the live state', async () => {
  const { ingest, url } = startServer();
  const sender = await goLive(url);
  const [session] = ingest.sessions;
  expect(session?.request).toEqual({
    key: KEY,
    kind: 'websocket',
    container: 'matroska',
    address: '192.0.2.1',
    streamId: STREAM,
  });
  const parts = [1, 1_000, 300_000].map((n) => crypto.getRandomValues(new Uint8Array(n % 65_536)));
  for (const part of parts) await sender.send(part);
  const content = Buffer.concat(parts);
  await session?.waitForBytes(content.length);
  expect(session?.content()).toEqual(content);
  sender.socket.close(1000, 'the show is over');
  expect(await session?.waitForEnd()).toBe('the socket was closed: 1000 the show is over');
});

test('[M-4] a first message of more than 4 KB closes the socket', async () => {
  const { ingest, url } = startServer();
  const sender = new Sender(url);
  await sender.send(`${FIRST_MESSAGE}${' '.repeat(4 << 10)}`);
  expect((await sender.closed).code).toBe(4415);
  expect(ingest.sessions).toEqual([]);
});

test('[M-4] a large message arrives complete; one over 4 MB closes the socket', async () => {
  const { ingest, url } = startServer();
  const sender = await goLive(url);
  const part = new Uint8Array(4 << 20).fill(7);
  await sender.send(part);
  await ingest.sessions[0]?.waitForBytes(part.length);
  await sender.send(new Uint8Array((4 << 20) + 1));
  expect((await sender.closed).code).toBe(4413);
  expect(await ingest.sessions[0]?.waitForEnd()).toStartWith('A message is too large');
  expect(ingest.sessions[0]?.bytes).toBe(part.length);
});

test.each([
  ['[M-4] an ended stream', 'ended', 4410],
  ['[M-4] an unavailable service', 'unavailable', 4503],
  ['[M-6] a stream that has a source', 'busy', 4409],
  ['[M-35] an account that has its most sources', 'too-many', 4409],
  ['[M-5] an unknown key', 'unknown-key', 4401],
] as const)('%s closes the socket with its code', async (_, refusal, code) => {
  const { ingest, url, lines } = startServer();
  ingest.refusal = refusal;
  const sender = new Sender(url);
  await sender.send(FIRST_MESSAGE);
  expect(await sender.closed).toEqual({ code, reason: `Refused: ${refusal}.` });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'source refused',
    kind: 'websocket',
    streamId: STREAM,
    address: '192.0.2.1',
    code,
  });
  expect(lines.join()).not.toContain(KEY);
});

test('[M-5] the key of another stream is rejected', async () => {
  const { url, ingest } = startServer();
  const sender = new Sender(url);
  await sender.send(JSON.stringify({ key: 'sk_other', type: 'video/webm' }));
  expect((await sender.closed).code).toBe(4401);
  expect(ingest.sessions).toHaveLength(0);
});

test('[M-16] an internal error closes with 4503 and is only logged', async () => {
  const { ingest, url, lines } = startServer();
  ingest.failure = new Error('secret cause');
  const sender = new Sender(url);
  await sender.send(FIRST_MESSAGE);
  const { code, reason } = await sender.closed;
  expect(code).toBe(4503);
  expect(reason).not.toContain('secret');
  expect(lines.join()).toContain('secret cause');
});

test.each([
  ['text that is not JSON', '{'],
  ['bytes', new Uint8Array([0x1a, 0x45, 0xdf, 0xa3])],
  ['an unsupported container', JSON.stringify({ key: KEY, type: 'video/mp4' })],
])('[M-16] %s first is closed with 4415', async (_, first) => {
  const { ingest, url } = startServer();
  const sender = new Sender(url);
  await sender.send(first);
  expect((await sender.closed).code).toBe(4415);
  expect(ingest.requests).toHaveLength(0);
});

test('[M-16] media before the live state closes the socket', async () => {
  const { ingest, url } = startServer();
  const gate = Promise.withResolvers<void>();
  ingest.gate = gate.promise;
  const sender = new Sender(url);
  await sender.send(FIRST_MESSAGE);
  await sender.send(new Uint8Array(10));
  expect((await sender.closed).code).toBe(4415);
  const accepted = ingest.next();
  gate.resolve();
  expect(await (await accepted).waitForEnd()).toBe('the sender left');
});

test('[M-16] text after the first message ends the source', async () => {
  const { ingest, url } = startServer();
  const sender = await goLive(url);
  await sender.send('hello');
  expect((await sender.closed).code).toBe(4415);
  expect(ingest.sessions[0]?.endReason).toContain('binary');
});

test('[M-16] a silent socket is closed', async () => {
  const { url } = startServer({ limits: { ...SOURCE_LIMITS, firstMessageMs: 20 } });
  const sender = new Sender(url);
  expect((await sender.closed).code).toBe(4413);
});

test('[M-4] a source that the service ends gets the reason', async () => {
  const { ingest, url } = startServer();
  const sender = await goLive(url);
  ingest.sessions[0]?.close('The stream has ended.');
  expect(await sender.next()).toEqual({ state: 'ended', reason: 'The stream has ended.' });
  expect(await sender.closed).toEqual({ code: 4410, reason: 'The stream has ended.' });
});

test('[M-4] a slow encoder applies back-pressure without loss', async () => {
  const { ingest, url } = startServer();
  const sender = await goLive(url);
  const [session] = ingest.sessions;
  if (!session) throw new Error('no session');
  session.acceptsMore = false;
  const part = new Uint8Array(1 << 20).fill(1);
  await sender.send(part);
  expect(await sender.next()).toEqual({ state: 'slow' });
  for (let n = 0; n < 40; n++) await sender.send(part);
  await Bun.sleep(300);
  // More than all buffers on the way hold: the sender buffers the rest.
  expect(session.bytes).toBeLessThan(10 << 20);
  expect(sender.socket.bufferedAmount).toBeGreaterThan(10 << 20);
  session.drain();
  expect(await sender.next()).toEqual({ state: 'live' });
  await session.waitForBytes(41 << 20);
  expect(session.bytes).toBe(41 << 20);
  expect(session.endReason).toBeNull();
});

test('[M-4] a stalled encoder ends the source with 4413', async () => {
  const { ingest, url } = startServer({ limits: { ...SOURCE_LIMITS, backPressureMs: 50 } });
  const sender = await goLive(url);
  const [session] = ingest.sessions;
  if (session) session.acceptsMore = false;
  await sender.send(new Uint8Array(10));
  expect((await sender.closed).code).toBe(4413);
  expect(session?.endReason).toContain('too slow');
});

test('[M-16] bytes that arrive during back-pressure are limited', async () => {
  const { ingest, url } = startServer({ limits: { ...SOURCE_LIMITS, pausedBytes: 100 } });
  const sender = await goLive(url);
  const [session] = ingest.sessions;
  if (session) session.acceptsMore = false;
  // One TCP segment, so that all of it was read before the pause.
  for (let n = 0; n < 12; n++) sender.socket.send(new Uint8Array(10));
  expect((await sender.closed).code).toBe(4413);
  expect(session?.bytes).toBeLessThanOrEqual(120);
});

test('[M-16] over 3,000 messages a second end the source with 4413', async () => {
  const { ingest, url } = startServer();
  const sender = await goLive(url);
  for (let n = 0; n < 10_000; n++) sender.socket.send(new Uint8Array(1));
  const reason = 'Too many messages; send at most 3000 a second.';
  expect(await sender.closed).toEqual({ code: 4413, reason });
  expect(await ingest.sessions[0]?.waitForEnd()).toBe(reason);
  // Those of two seconds at most.
  expect(ingest.sessions[0]?.bytes).toBeLessThanOrEqual(6_000);
});

test('[M-4] a stop ends all sources with 4503 and rejects new ones', async () => {
  const { ingest, ws, url } = startServer();
  const sender = await goLive(url);
  const silent = new Sender(url);
  await silent.opened;
  await ws.stop();
  expect((await sender.closed).code).toBe(4503);
  expect((await silent.closed).code).toBe(4503);
  expect(ingest.sessions[0]?.endReason).toContain('stopping');
  const response = await fetch(url, { headers: { Upgrade: 'websocket' } });
  expect(response.status).toBe(503);
});

/** A live source on a raw connection that does not respond by itself. */
async function rawSource({ ingest, url }: ReturnType<typeof startServer>) {
  const accepted = ingest.next();
  const socket = connect(Number(url.port), '127.0.0.1');
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\n` +
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await new Promise((resolve) => socket.once('data', resolve));
  const masked = Buffer.from(FIRST_MESSAGE);
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | masked.length, 0, 0, 0, 0]), masked]));
  return { socket, session: await accepted };
}

test('[M-4] a source ends at once when its connection breaks', async () => {
  const { socket, session } = await rawSource(startServer());
  socket.resetAndDestroy();
  expect(await session.waitForEnd()).toContain('the socket was closed');
});

test('[M-4] a source ends within 10 s when its sender is dead', async () => {
  const { socket, session } = await rawSource(startServer());
  const sinceMs = performance.now();
  expect(await session.waitForEnd()).toContain('the socket was closed');
  expect(performance.now() - sinceMs).toBeLessThan(10_000);
  socket.destroy();
});

test('[M-4] a request without an upgrade gets an error message', async () => {
  const { url } = startServer();
  const response = await fetch(url);
  expect(response.status).toBe(426);
  expect(response.headers.get('upgrade')).toBe('websocket');
  expect(await response.json()).toMatchObject({
    status: 426,
    detail: 'Open a WebSocket here, and send the stream key first.',
  });
  expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  expect((await fetch(new URL('/media/none/ingest', url))).status).toBe(404);
});

test('[M-4] pages of every origin may send by default, or only those of the CORS origin and the service', async () => {
  const headers = { Upgrade: 'websocket' };
  const statusFor = async (url: URL, origin: string) =>
    (await fetch(url, { headers: { ...headers, Origin: origin } })).status;
  const open = startServer();
  expect(await statusFor(open.url, 'https://anywhere.example')).toBe(400);
  const closed = startServer({ corsOrigin: 'https://studio.example' });
  expect(await statusFor(closed.url, 'https://studio.example')).toBe(400);
  expect(await statusFor(closed.url, closed.url.origin)).toBe(400);
  expect(await statusFor(closed.url, 'https://anywhere.example')).toBe(401);
  expect(await statusFor(closed.url, 'null')).toBe(401);
});

test('[M-16] opening sockets and their rate are limited per address', async () => {
  const { url } = startServer();
  const silent = Array.from({ length: 8 }, () => new Sender(url));
  await Promise.all(silent.map(({ opened }) => opened));
  const response = await fetch(url, { headers: { Upgrade: 'websocket' } });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  for (const { socket } of silent) socket.close();
  await Promise.all(silent.map(({ closed }) => closed));
  await goLive(url);

  const slow = startServer({ rate: { points: 1, durationS: 60 } });
  await goLive(slow.url);
  expect((await fetch(slow.url, { headers: { Upgrade: 'websocket' } })).status).toBe(429);
});

test('[M-16] silent sockets from many addresses keep no source out', async () => {
  let address = 0;
  const { url } = startServer({ addressOf: () => `192.0.2.${address++ >> 3}` });
  const silent = Array.from({ length: 64 }, () => new Sender(url));
  await Promise.all(silent.map(({ opened }) => opened));
  await goLive(url);
  // The first one waited longest.
  expect((await silent[0]?.closed)?.code).toBe(4503);
  const closed = silent.filter(({ socket }) => socket.readyState !== WebSocket.OPEN);
  expect(closed).toHaveLength(1);
});

test('[M-16] silent sockets of one network replace no slow sender of another', async () => {
  let opened = 0;
  const addressOf = () => (opened++ === 0 ? '198.51.100.1' : `192.0.2.${opened >> 3}`);
  const { url } = startServer({ addressOf });
  const slow = new Sender(url);
  await slow.opened;
  const silent = Array.from({ length: 64 }, () => new Sender(url));
  await Promise.all(silent.map(({ opened }) => opened));
  await slow.send(FIRST_MESSAGE);
  expect(await slow.next()).toEqual({ state: 'live' });
});

test('a close reason is truncated at a character boundary', () => {
  expect(truncateReason('short')).toBe('short');
  expect(truncateReason('a'.repeat(200))).toBe('a'.repeat(123));
  expect(truncateReason(`a${'é'.repeat(100)}`)).toBe(`a${'é'.repeat(61)}`);
});
