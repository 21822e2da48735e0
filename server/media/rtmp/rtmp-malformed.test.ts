import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  RtmpFixture,
  type TestSender,
  videoMessage,
} from '../../../test/support/media/rtmp-fixture.ts';
import { flvTag } from '../container/flv-tag.ts';
import { writeChunks } from './chunk-writer.ts';
import { commandMessage } from './publish-session.ts';
import { FAILED } from './rtmp-connection.ts';
import {
  controlMessage,
  PING_REQUEST,
  SET_CHUNK_SIZE,
  USER_CONTROL,
  userControl,
  VIDEO,
} from './rtmp-message.ts';

const EMPTY = Buffer.alloc(0);
/** Format 3 chunks on chunk stream 3, which repeat the previous message. */
const REPEATED = Buffer.alloc(60_000, 0xc3);

const BAD_NAME = 'NetStream.Publish.BadName';
let fixture: RtmpFixture;

beforeEach(() => {
  fixture = new RtmpFixture();
});

afterEach(() => fixture.close());

describe('[M-16] a peer that', () => {
  test('a peer that speaks another protocol is closed at once and not logged', async () => {
    const port = await fixture.listen();
    const sender = await fixture.connect(port);
    sender.socket.write('GET / HTTP/1.1\r\n\r\n');
    await sender.closed;
    expect(fixture.lines.map((line) => JSON.parse(line).level)).toEqual([20]);
  });

  test.each([
    ['no bytes', () => {}],
    ['half a handshake', (sender: TestSender) => sender.socket.write(Uint8Array.of(3, 0, 0))],
    ['no publish command', (sender: TestSender) => sender.sendHandshake()],
    [
      'nothing but pings',
      (sender: TestSender) => {
        sender.sendHandshake();
        sender.send(...Array.from({ length: 100 }, () => userControl(PING_REQUEST, 5)));
      },
    ],
  ])('a peer that sends %s is closed after a while', async (_, misbehave) => {
    const sender = await fixture.connect(await fixture.listen({ handshakeMs: 50, publishMs: 50 }));
    misbehave(sender);
    await sender.closed;
    expect(fixture.lines.join()).toContain('it did not publish in time');
  });

  test.each([
    ['a message too large', commandMessage(0, 'connect', 1, { app: 'x'.repeat(70_000) })],
    ['a malformed command', { ...commandMessage(0), payload: Buffer.of(77) }],
    ['publish before connect', commandMessage(1, 'publish', 1, null, 'KEY')],
  ])('a peer that begins with %s is closed', async (_, message) => {
    const sender = await fixture.connect(await fixture.listen());
    sender.sendHandshake();
    sender.send(message);
    await sender.closed;
    expect(fixture.ingest.requests).toEqual([]);
  });

  test('a peer that wants to play gets an error message', async () => {
    const sender = await fixture.connect(await fixture.listen());
    sender.sendHandshake();
    sender.send(commandMessage(0, 'connect', 1, { app: 'live' }));
    sender.send(commandMessage(1, 'play', 2, null, 'KEY'));
    await sender.until((all) => all.codes().includes('NetStream.Play.StreamNotFound'));
    expect(fixture.ingest.requests).toEqual([]);
  });

  test('a peer that never reads the responses is closed', async () => {
    const unlimited = Number.POSITIVE_INFINITY;
    const port = await fixture.listen({
      messagesPerSecond: unlimited,
      pingsPerSecond: unlimited,
    });
    const { source, session } = await fixture.goLive(port);
    source.socket.pause();
    const request = writeChunks(userControl(PING_REQUEST, 1), 2, 128);
    const requests = Buffer.concat(Array.from({ length: 1_000 }, () => request));
    const flood = () => {
      while (session.endReason === null && source.socket.write(requests));
    };
    source.socket.on('drain', flood);
    flood();
    expect(await session.waitForEnd()).toBe('connection lost');
  });

  test('a peer that sends a large command as a source gets an error message', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen());
    source.send(commandMessage(0, 'other', 1, 'x'.repeat(100_000)));
    expect(await session.waitForEnd()).toContain('too large');
  });

  test('a peer that sends many pings gets few responses', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen());
    const pings = Array.from({ length: 1_000 }, () => userControl(PING_REQUEST, 5));
    source.send(...pings, commandMessage(1, 'deleteStream', 3, null, 1));
    await session.waitForEnd();
    await source.closed;
    const pongs = source.messages.filter(({ type }) => type === USER_CONTROL);
    // Of up to two seconds, and the begin of the stream.
    expect(pongs.length).toBeLessThanOrEqual(21);
  });

  test('a peer that floods messages before publishing is closed', async () => {
    const sender = await fixture.connect(await fixture.listen());
    sender.sendHandshake();
    // One byte each: a format 3 chunk repeats the previous empty message.
    const flood = Buffer.concat([
      writeChunks({ ...videoMessage(0), payload: EMPTY }, 3, 128),
      REPEATED,
    ]);
    sender.socket.write(flood);
    await sender.closed;
    expect(fixture.ingest.requests).toEqual([]);
    const second = await fixture.connect(await fixture.listen());
    second.sendHandshake();
    second.send(
      ...Array.from({ length: 40 }, () => ({ ...videoMessage(0), payload: Buffer.alloc(8_000) })),
    );
    await second.closed;
  });

  test('a peer that announces small chunks as a source gets an error message', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen());
    source.socket.write(writeChunks(controlMessage(SET_CHUNK_SIZE, 127), 2, 128));
    expect(await session.waitForEnd()).toContain('chunks of at least 128 bytes');
    await source.until((all) => all.codes().includes(FAILED));
  });

  test('a peer that floods empty messages as a source gets an error message', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen());
    source.socket.write(writeChunks({ ...videoMessage(0), payload: EMPTY }, 3, 128));
    source.socket.write(REPEATED);
    expect(await session.waitForEnd()).toBe('Too many messages per second.');
    await source.until((all) => all.codes().includes(FAILED));
  });

  test.each([
    [
      'garbage',
      'does not exist',
      (sender: TestSender) => sender.socket.write(Buffer.alloc(400, 0xc5)),
    ],
    [
      'HEVC',
      'set the encoder to H.264',
      (sender: TestSender) => {
        sender.send({ ...videoMessage(0), payload: Buffer.from('\x91hvc1') });
      },
    ],
    [
      'a timestamp jump',
      'jumped by',
      (sender: TestSender) => {
        sender.send(videoMessage(100_000), videoMessage(0));
      },
    ],
    [
      'a message too large',
      'too large',
      (sender: TestSender) => {
        sender.socket.write(Uint8Array.of(6, 0, 0, 0, 0xff, 0xff, 0xff, VIDEO, 1, 0, 0, 0));
      },
    ],
  ])(
    'a peer that sends %s as a source gets an error message, and other sources continue',
    async (_, errorText, misbehave) => {
      fixture.keys.set('OTHER', 'another');
      const port = await fixture.listen();
      const { source, session } = await fixture.goLive(port);
      const { source: bad, session: badSession } = await fixture.goLive(port, 'OTHER');
      misbehave(bad);
      expect(await badSession.waitForEnd()).toContain(errorText);
      await bad.until((sender) => sender.codes().includes(FAILED));
      source.send(videoMessage(40));
      await session.waitForBytes(100);
      expect(session.endReason).toBeNull();
    },
  );

  test('a peer that is silent as a source is ended', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen({ idleMs: 50 }));
    expect(await session.waitForEnd()).toBe('timeout');
    await source.until((sender) => sender.codes().includes(FAILED));
  });

  test('[M-5] a peer that guesses keys is slowed down', async () => {
    const guess = async (port: number, times: number) => {
      for (let turn = 0; turn < times; turn++) {
        const sender = await fixture.connect(port);
        sender.publish('WRONG');
        await sender.closed;
      }
    };
    await guess(await fixture.listen({ closedHoldMs: 60_000 }), 40);
    expect(fixture.ingest.requests.length).toBe(16);
    fixture.ingest.requests.length = 0;
    await guess(await fixture.listen({ closedHoldMs: 0 }), 40);
    expect(fixture.ingest.requests.length).toBe(40);
  });

  test('[M-5] a peer that guesses keys is checked and logged 60 times a minute', async () => {
    const port = await fixture.listen({ closedHoldMs: 0 });
    const attempt = async (localAddress: string) => {
      const sender = await fixture.connect(port, false, localAddress);
      sender.publish('WRONG');
      await sender.closed;
      return sender.codes();
    };
    for (let n = 0; n < 60; n++) expect(await attempt('127.0.0.1')).toEqual([BAD_NAME]);
    for (let n = 0; n < 20; n++) expect(await attempt('127.0.0.1')).toEqual([FAILED]);
    const warnings = fixture.lines.filter((line) => JSON.parse(line).level >= 40);
    expect([fixture.ingest.requests.length, warnings.length]).toEqual([60, 60]);
    expect(await attempt('127.0.0.2')).toEqual([BAD_NAME]);
  });

  test('[M-5] a peer that guesses keys and leaves before the response is counted', async () => {
    const gate = Promise.withResolvers<void>();
    fixture.ingest.gate = gate.promise;
    const port = await fixture.listen({ closedHoldMs: 0, unknownKeysPerMinute: 1 });
    const sender = await fixture.connect(port);
    sender.publish('WRONG');
    while (fixture.ingest.requests.length === 0) await Bun.sleep(1);
    sender.socket.resetAndDestroy();
    while (!fixture.lines.join().includes('connection lost')) await Bun.sleep(1);
    gate.resolve();
    const next = await fixture.connect(port);
    next.publish('WRONG');
    await next.closed;
    expect(next.codes()).toEqual([FAILED]);
  });

  test('[M-5] 8 encoders of one address that retry while their streams are busy are admitted after it', async () => {
    const keys = Array.from({ length: 8 }, (_, n) => `KEY${n}`);
    for (const key of keys) fixture.keys.set(key, `stream of ${key}`);
    const port = await fixture.listen({ closedHoldMs: 0 });
    fixture.ingest.refusal = 'busy';
    for (let second = 0; second < 8; second++) {
      for (const key of keys) {
        const sender = await fixture.connect(port);
        sender.publish(key);
        await sender.closed;
        expect(sender.codes()).toEqual([BAD_NAME]);
      }
    }
    fixture.ingest.refusal = null;
    for (const key of keys) await fixture.goLive(port, key);
  });

  test('a peer that is refused and stays connected is closed', async () => {
    const sender = await fixture.connect(await fixture.listen({ lingerMs: 50 }), true);
    sender.publish('WRONG');
    await sender.until((all) => all.codes().includes(BAD_NAME));
    const writing = setInterval(() => sender.socket.write(Buffer.alloc(100)), 10);
    await sender.closed;
    clearInterval(writing);
  });
});

test('[M-16] many misbehaving connections do not disturb a source', async () => {
  const port = await fixture.listen({ handshakeMs: 500, publishMs: 500, closedHoldMs: 0 });
  const { source, session } = await fixture.goLive(port);
  const clients = await Promise.all(Array.from({ length: 200 }, () => fixture.connect(port)));
  const sent: Uint8Array[] = [];
  for (const [index, client] of clients.entries()) {
    // A third is silent, a third sends slowly, a third floods.
    if (index % 3 === 1) client.socket.write(Uint8Array.of(3));
    if (index % 3 === 2) client.socket.write(crypto.getRandomValues(new Uint8Array(5_000)));
    const frame = videoMessage(index * 40, 300, index === 0);
    sent.push(flvTag(VIDEO, index * 40, frame.payload));
    source.send(frame);
  }
  await Promise.all(clients.map(({ closed }) => closed));
  await session.waitForBytes(13 + 200 * 315);
  expect(Buffer.from(session.content()).subarray(13).equals(Buffer.concat(sent))).toBe(true);
  expect(session.endReason).toBeNull();
  // New connections are accepted again.
  const next = await fixture.connect(port);
  next.publish('WRONG');
  await next.until((sender) => sender.codes().includes(BAD_NAME));
});
