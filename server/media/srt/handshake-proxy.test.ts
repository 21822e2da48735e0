import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { FakeIngest } from '../../../test/support/media/fake-ingest.ts';
import { CONCLUSION, INDUCTION } from '../../../test/support/media/srt-handshakes.ts';
import type { RateLimit } from '../../platform/rate-limiter.ts';
import { HandshakeProxy } from './handshake-proxy.ts';
import { createShutdown, readHandshake, readRejection, withCookie } from './srt-handshake.ts';
import { SynCookies } from './syn-cookie.ts';

const KEY = 'sk_0123456789ab';
const OTHER_KEY = 'sk_0123456789ac';
const ADDRESS = '192.0.2.1';

let folder: string;
/** Path of a receiver program that produces no data. */
let idleReceiver: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'srt-proxy-'));
  idleReceiver = join(folder, 'idle');
  await Bun.write(idleReceiver, '#!/bin/sh\nexec sleep 20');
  await chmod(idleReceiver, 0o755);
});

afterAll(() => rm(folder, { recursive: true }));

const proxies: HandshakeProxy[] = [];
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.stop();
});

/** Creates a proxy without a socket; records what it sends. */
function newProxy(rate?: RateLimit, freePort = async () => 1) {
  const ingest = new FakeIngest(
    new Map([
      [KEY, 'stream-1'],
      [OTHER_KEY, 'stream-2'],
    ]),
  );
  const sent: { datagram: Buffer; port: number }[] = [];
  const lines: string[] = [];
  const proxy = new HandshakeProxy({
    ffmpeg: idleReceiver,
    ingest,
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
    cookies: new SynCookies(new Uint8Array(32)),
    freePort,
    send: (datagram, port) => void sent.push({ datagram, port }),
    ...(rate && { rate }),
  });
  proxies.push(proxy);
  return {
    proxy,
    ingest,
    sent,
    lines,
    /** Delivers a datagram. @returns the proxy's response */
    deliver(datagram: Buffer, port: number, address = ADDRESS) {
      sent.length = 0;
      proxy.receive(datagram, port, address);
      return sent[0]?.datagram;
    },
    conclusionFor(port: number, address = ADDRESS) {
      sent.length = 0;
      proxy.receive(INDUCTION, port, address);
      const response = sent.pop()?.datagram ?? Buffer.alloc(64);
      return withCookie(CONCLUSION, readHandshake(response)?.cookie ?? 0);
    },
  };
}

/** Lets pending promise callbacks run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('[M-16] a conclusion without the cookie of its address is ignored', () => {
  const { deliver, conclusionFor, ingest } = newProxy();
  const conclusion = conclusionFor(1);
  expect(deliver(CONCLUSION, 1)).toBeUndefined();
  expect(deliver(conclusion, 2)).toBeUndefined();
  expect(deliver(conclusion, 1, '192.0.2.2')).toBeUndefined();
  expect(ingest.requests).toHaveLength(0);
});

test('[M-16] a repeated conclusion is one request, and its rejection is repeated', async () => {
  const { deliver, conclusionFor, ingest, sent, lines } = newProxy();
  ingest.refusal = 'ended';
  const gate = Promise.withResolvers<void>();
  ingest.gate = gate.promise;
  const conclusion = conclusionFor(1);
  for (let n = 0; n < 5; n++) expect(deliver(conclusion, 1)).toBeUndefined();
  await settle();
  gate.resolve();
  await settle();
  expect(sent.map(({ datagram }) => readRejection(datagram))).toEqual([1410]);
  expect(readRejection(deliver(conclusion, 1) ?? Buffer.alloc(0))).toBe(1410);
  expect(deliver(createShutdown(1), 1)).toBeUndefined();
  expect(ingest.requests).toHaveLength(1);
  expect(lines).toHaveLength(1);
});

test('[M-16] opening callers are limited per address', async () => {
  const { deliver, conclusionFor, ingest } = newProxy();
  ingest.gate = new Promise(() => {});
  for (let port = 1; port <= 8; port++) expect(deliver(conclusionFor(port), port)).toBeUndefined();
  expect(readRejection(deliver(conclusionFor(9), 9) ?? Buffer.alloc(0))).toBe(1402);
  const elsewhere = conclusionFor(9, '192.0.2.2');
  expect(deliver(elsewhere, 9, '192.0.2.2')).toBeUndefined();
  await settle();
  expect(ingest.requests).toHaveLength(9);
});

const addressOf = (n: number) => `198.51.${n >> 8}.${n & 255}`;

/** A conclusion that is rejected. */
const withoutStreamId = (conclusion: Buffer) => conclusion.subarray(0, conclusion.length - 24);

test('[M-16] rejected callers take no place of others', async () => {
  const { deliver, conclusionFor, ingest } = newProxy();
  for (let n = 0; n < 600; n++) {
    const address = addressOf(n);
    deliver(withoutStreamId(conclusionFor(1, address)), 1, address);
    await settle();
  }
  deliver(conclusionFor(1), 1);
  await settle();
  expect(ingest.requests).toHaveLength(1);
});

test('[M-16] callers with an invalid stream id are rate limited and logged 60 times a minute', async () => {
  const { deliver, conclusionFor, lines } = newProxy();
  for (let port = 1; port <= 100; port++) {
    deliver(withoutStreamId(conclusionFor(port)), port);
    await settle();
  }
  expect(lines).toHaveLength(60);
});

test('[M-16] a network has a limited number of rates', async () => {
  const { deliver, conclusionFor, ingest } = newProxy({ points: 1, durationS: 60 });
  ingest.refusal = 'unknown-key';
  for (let n = 0; n < 3_000; n++) {
    const address = `2001:db8:1:${n.toString(16)}::1`;
    deliver(conclusionFor(1, address), 1, address);
    await settle();
  }
  // 1,000 of their own, and 1,024 that all share.
  const checked = ingest.requests.length;
  expect(checked).toBeLessThan(2_100);
  const elsewhere = '2001:db8:2::1';
  deliver(conclusionFor(1, elsewhere), 1, elsewhere);
  await settle();
  expect(ingest.requests).toHaveLength(checked + 1);
});

test('[M-16] inductions are rate limited', () => {
  const { proxy, sent } = newProxy();
  for (let n = 0; n < 6_000; n++) proxy.receive(INDUCTION, n, addressOf(n));
  expect(sent).toHaveLength(5_000);
});

test('[M-16] conclusions are rate limited', async () => {
  const { proxy, conclusionFor, ingest } = newProxy();
  const conclusion = conclusionFor(2);
  for (let n = 0; n < 5_000; n++) proxy.receive(CONCLUSION, 1, addressOf(n));
  proxy.receive(conclusion, 2, ADDRESS);
  await settle();
  expect(ingest.requests).toHaveLength(0);
});

test('[M-16] one client cannot use up the handshakes of others', async () => {
  const { proxy, deliver, conclusionFor, ingest, sent } = newProxy();
  const conclusion = conclusionFor(2, '192.0.2.2');
  for (let n = 0; n < 20_000; n++) proxy.receive(CONCLUSION, n, ADDRESS);
  for (let n = 0; n < 20_000; n++) proxy.receive(INDUCTION, n, `2001:db8:1:${n.toString(16)}::1`);
  expect(sent).toHaveLength(300);
  expect(deliver(INDUCTION, 1, '192.0.2.2')).toHaveLength(64);
  proxy.receive(conclusion, 2, '192.0.2.2');
  await settle();
  expect(ingest.requests).toHaveLength(1);
});

test('[M-16] a rejection is repeated for a limited number of datagrams', async () => {
  const { proxy, conclusionFor, sent } = newProxy();
  const conclusion = withoutStreamId(conclusionFor(1));
  for (let n = 0; n < 1_000; n++) {
    proxy.receive(conclusion, 1, ADDRESS);
    await settle();
  }
  // The induction and the first conclusion count too.
  expect(sent).toHaveLength(299);
});

test('[M-16] a source that sends too many datagrams ends', async () => {
  const { proxy, deliver, conclusionFor, ingest } = newProxy();
  const accepted = ingest.next();
  deliver(conclusionFor(1), 1);
  const session = await accepted;
  await settle();
  const data = Buffer.alloc(1_316);
  for (let n = 0; n < 20_000; n++) proxy.receive(data, 1, ADDRESS);
  expect(session.endReason).toBeNull();
  proxy.receive(data, 1, ADDRESS);
  expect(session.endReason).toBe('too many datagrams');
});

test('[M-16] the source that sends too many datagrams ends, and no other of its account', async () => {
  const { proxy, deliver, conclusionFor, ingest } = newProxy();
  const sessions = [];
  for (const port of [1, 2]) {
    const accepted = ingest.next();
    const conclusion = conclusionFor(port);
    // A word of the key, in the byte order of SRT.
    if (port === 2) conclusion.write('\0ca9', conclusion.indexOf('\0ba9'));
    deliver(conclusion, port);
    sessions.push(await accepted);
    await settle();
  }
  const data = Buffer.alloc(64);
  for (let n = 0; n < 20_001; n++) proxy.receive(data, 2, ADDRESS);
  for (let n = 0; n < 3_000; n++) proxy.receive(data, 1, ADDRESS);
  expect(sessions.map(({ endReason }) => endReason)).toEqual([null, 'too many datagrams']);
});

test('[M-16] datagrams too short or too long for SRT are ignored', () => {
  const { deliver } = newProxy();
  expect(deliver(Buffer.alloc(0), 1)).toBeUndefined();
  expect(deliver(Buffer.concat([INDUCTION, Buffer.alloc(1_500)]), 1)).toBeUndefined();
  expect(deliver(Buffer.concat([INDUCTION, Buffer.alloc(1_000)]), 1)).toHaveLength(64);
});

test('[M-3] a sender with a packet filter is rejected before its receiver starts', () => {
  const { deliver, conclusionFor, ingest, lines } = newProxy();
  const filter = Buffer.from('fec,cols:100000,rows:100000\0');
  const extension = Buffer.alloc(4 + filter.length);
  extension.writeUInt16BE(7);
  extension.writeUInt16BE(filter.length / 4, 2);
  filter.swap32().copy(extension, 4);
  const response = deliver(Buffer.concat([conclusionFor(1), extension]), 1);
  expect(response && readRejection(response)).toBe(1400);
  expect(JSON.parse(lines[0] ?? '').reason).toContain('packet filter');
  expect(ingest.requests).toHaveLength(0);
});

test('[M-3] a sender without support for stream ids is rejected', async () => {
  const { deliver, conclusionFor, sent } = newProxy();
  const conclusion = conclusionFor(1);
  conclusion.writeUInt32BE(4, 16); // version of UDT
  deliver(conclusion, 1);
  await settle();
  expect(sent.map(({ datagram }) => readRejection(datagram))).toEqual([8]);
});

test('[M-16] an internal error rejects the caller and ends its source', async () => {
  const freePort = () => Promise.reject(new Error('no port'));
  const { deliver, conclusionFor, sent, ingest, lines } = newProxy(undefined, freePort);
  const accepted = ingest.next();
  deliver(conclusionFor(1), 1);
  expect(await (await accepted).waitForEnd()).toBe('the receiver failed');
  await settle();
  expect(sent.map(({ datagram }) => readRejection(datagram))).toEqual([1500]);
  expect(lines.join()).toContain('"level":50');
});

test('[M-6] a sender that reconnects from the same port replaces its own session', async () => {
  const { deliver, conclusionFor, ingest } = newProxy();
  const accepted = ingest.next();
  deliver(conclusionFor(1), 1);
  const first = await accepted;
  await settle();
  const conclusion = conclusionFor(1);
  conclusion.writeUInt32BE(2, 40); // another socket id
  const next = ingest.next();
  deliver(conclusion, 1);
  expect(first.endReason).toBe('the sender reconnected');
  expect((await next).endReason).toBeNull();
});

test('[M-3] a stop ends all sources and later datagrams are ignored', async () => {
  const { proxy, deliver, conclusionFor, ingest } = newProxy();
  const accepted = ingest.next();
  deliver(conclusionFor(1), 1);
  const session = await accepted;
  const late = conclusionFor(2);
  await settle();
  proxy.stop();
  expect(session.endReason).toBe('the service is stopping');
  expect(deliver(late, 2)).toBeUndefined();
  expect(ingest.requests).toHaveLength(1);
});
