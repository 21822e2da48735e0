import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { FakeIngest } from '../../../test/support/media/fake-ingest.ts';
import { SrtFront } from './srt-front.ts';
import { readHandshake, readRefusal, shutdown, withCookie } from './srt-handshake.ts';
import { SynCookies } from './syn-cookie.ts';

const KEY = 'sk_0123456789ab';
const ADDRESS = '192.0.2.1';

// As libsrt 1.5.1 sends them, with streamid=publish:sk_0123456789ab.
const INDUCTION = Buffer.from(
  '8000000000000000000000950000000000000004000000025175cb12000005dc00002000000000010b22144600000000' +
    '0100007f000000000000000000000000',
  'hex',
);
const CONCLUSION = Buffer.from(
  '8000000000000000000004cc0000000000000005000000055175cb12000005dc00002000ffffffff0b221446deadbeef' +
    '0100007f00000000000000000000000000010003' +
    '00010501000000bf00780000000500066c6275703a687369305f6b73343332313837363500626139',
  'hex',
);

let folder: string;
/** A receiver that brings nothing. */
let idle: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'srt-front-'));
  idle = join(folder, 'idle');
  await Bun.write(idle, '#!/bin/sh\nexec sleep 20');
  await chmod(idle, 0o755);
});

afterAll(() => rm(folder, { recursive: true }));

const fronts: SrtFront[] = [];
afterEach(() => {
  for (const front of fronts.splice(0)) front.stop();
});

/** A front without a socket: what it sends, by port. */
function newFront(ffmpeg = 'ffmpeg-that-is-not-there') {
  const ingest = new FakeIngest(new Map([[KEY, 'stream-1']]));
  const sent: { datagram: Buffer; port: number }[] = [];
  const lines: string[] = [];
  const front = new SrtFront({
    ffmpeg,
    ingest,
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
    cookies: new SynCookies(new Uint8Array(32)),
    freePort: async () => 1,
    send: (datagram, port) => void sent.push({ datagram, port }),
  });
  fronts.push(front);
  return {
    front,
    ingest,
    sent,
    lines,
    /** What it says to the next that is sent from this port. */
    ask(datagram: Buffer, port: number, address = ADDRESS) {
      sent.length = 0;
      front.datagram(datagram, port, address);
      return sent[0]?.datagram;
    },
    conclusionFor(port: number, address = ADDRESS) {
      sent.length = 0;
      front.datagram(INDUCTION, port, address);
      const answer = sent.pop()?.datagram ?? Buffer.alloc(64);
      return withCookie(CONCLUSION, readHandshake(answer)?.cookie ?? 0);
    },
  };
}

/** Lets what waits for promises alone go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('[M-16] a conclusion without the cookie of its address asks nobody', () => {
  const { ask, conclusionFor, ingest } = newFront();
  const conclusion = conclusionFor(1);
  expect(ask(CONCLUSION, 1)).toBeUndefined();
  expect(ask(conclusion, 2)).toBeUndefined();
  expect(ask(conclusion, 1, '192.0.2.2')).toBeUndefined();
  expect(ingest.offers).toHaveLength(0);
});

test('[M-16] a conclusion that is repeated is one offer, and its refusal is repeated', async () => {
  const { ask, conclusionFor, ingest, sent, lines } = newFront();
  ingest.refusal = 'ended';
  const gate = Promise.withResolvers<void>();
  ingest.gate = gate.promise;
  const conclusion = conclusionFor(1);
  for (let n = 0; n < 5; n++) expect(ask(conclusion, 1)).toBeUndefined();
  await settled();
  gate.resolve();
  await settled();
  expect(sent.map(({ datagram }) => readRefusal(datagram))).toEqual([1410]);
  expect(readRefusal(ask(conclusion, 1) ?? Buffer.alloc(0))).toBe(1410);
  expect(ask(shutdown(1), 1)).toBeUndefined();
  expect(ingest.offers).toHaveLength(1);
  expect(lines).toHaveLength(1);
});

test('[M-16] callers that open are bounded for each address', async () => {
  const { ask, conclusionFor, ingest } = newFront();
  ingest.gate = new Promise(() => {});
  for (let port = 1; port <= 8; port++) expect(ask(conclusionFor(port), port)).toBeUndefined();
  expect(readRefusal(ask(conclusionFor(9), 9) ?? Buffer.alloc(0))).toBe(1402);
  const elsewhere = conclusionFor(9, '192.0.2.2');
  expect(ask(elsewhere, 9, '192.0.2.2')).toBeUndefined();
  await settled();
  expect(ingest.offers).toHaveLength(9);
});

test('[M-16] inductions are answered so many times a second', () => {
  const { front, sent } = newFront();
  for (let n = 0; n < 6_000; n++) front.datagram(INDUCTION, n, ADDRESS);
  expect(sent).toHaveLength(5_000);
});

test('[M-16] datagrams too short or too long for SRT are not looked at', () => {
  const { ask } = newFront();
  expect(ask(Buffer.alloc(0), 1)).toBeUndefined();
  expect(ask(Buffer.concat([INDUCTION, Buffer.alloc(1_500)]), 1)).toBeUndefined();
  expect(ask(Buffer.concat([INDUCTION, Buffer.alloc(1_000)]), 1)).toHaveLength(64);
});

test('[M-3] a sender that is too old for stream ids is told so', async () => {
  const { ask, conclusionFor, sent } = newFront();
  const conclusion = conclusionFor(1);
  conclusion.writeUInt32BE(4, 16);
  ask(conclusion, 1);
  await settled();
  expect(sent.map(({ datagram }) => readRefusal(datagram))).toEqual([8]);
});

test('[M-16] a defect of ours refuses that caller, and its source is not left behind', async () => {
  const { ask, conclusionFor, sent, ingest, lines } = newFront();
  const taken = ingest.next();
  ask(conclusionFor(1), 1);
  expect(await (await taken).left()).toBe('there is no receiver');
  await settled();
  expect(sent.map(({ datagram }) => readRefusal(datagram))).toEqual([1500]);
  expect(lines.join()).toContain('"level":50');
});

test('[M-6] a sender that begins anew at the same port takes its own place', async () => {
  const { ask, conclusionFor, ingest } = newFront(idle);
  const taken = ingest.next();
  ask(conclusionFor(1), 1);
  const first = await taken;
  await settled();
  const conclusion = conclusionFor(1);
  conclusion.writeUInt32BE(2, 40);
  const next = ingest.next();
  ask(conclusion, 1);
  expect(first.ended).toBe('the sender began anew');
  expect((await next).ended).toBeNull();
});

test('[M-3] a stop ends all, and answers no more', async () => {
  const { front, ask, conclusionFor, ingest } = newFront(idle);
  const taken = ingest.next();
  ask(conclusionFor(1), 1);
  const session = await taken;
  const late = conclusionFor(2);
  await settled();
  front.stop();
  expect(session.ended).toBe('the service is stopping');
  expect(ask(late, 2)).toBeUndefined();
  expect(ingest.offers).toHaveLength(1);
});
