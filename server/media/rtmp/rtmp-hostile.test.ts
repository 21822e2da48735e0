import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { picture, RtmpFixture, type TestSender } from '../../../test/support/media/rtmp-fixture.ts';
import { flvTag } from '../container/flv-tag.ts';
import { chunked } from './chunk-writer.ts';
import { commandMessage } from './publish-dialog.ts';
import { PING_REQUEST, userControl, VIDEO } from './rtmp-message.ts';
import { FAILED } from './status-codes.ts';

const EMPTY = Buffer.alloc(0);
/** Chunks of format 3 on chunk stream 3: the message before, over and over. */
const REPEATED = Buffer.alloc(60_000, 0xc3);

const BAD_NAME = 'NetStream.Publish.BadName';
let fixture: RtmpFixture;

beforeEach(() => {
  fixture = new RtmpFixture();
});

afterEach(() => fixture.close());

describe('[M-16] whoever', () => {
  test('speaks another language is closed at once, and fills no log', async () => {
    const port = await fixture.listening();
    const one = await fixture.sender(port);
    one.socket.write('GET / HTTP/1.1\r\n\r\n');
    await one.closed;
    expect(fixture.lines.map((line) => JSON.parse(line).level)).toEqual([20]);
  });

  test.each([
    ['nothing', () => {}],
    ['half a handshake', (one: TestSender) => one.socket.write(Uint8Array.of(3, 0, 0))],
    ['no publishing', (one: TestSender) => one.shake()],
    [
      'nothing but questions',
      (one: TestSender) => {
        one.shake();
        one.send(...Array.from({ length: 100 }, () => userControl(PING_REQUEST, 5)));
      },
    ],
  ])('sends %s is closed after a while', async (_, act) => {
    const one = await fixture.sender(await fixture.listening({ handshakeMs: 50, publishMs: 50 }));
    act(one);
    await one.closed;
    expect(fixture.lines.join()).toContain('it did not publish in time');
  });

  test.each([
    ['a message too large', commandMessage(0, 'connect', 1, { app: 'x'.repeat(70_000) })],
    ['what is no command', { ...commandMessage(0), payload: Buffer.of(77) }],
    ['publish before connect', commandMessage(1, 'publish', 1, null, 'KEY')],
  ])('begins with %s is closed', async (_, message) => {
    const one = await fixture.sender(await fixture.listening());
    one.shake();
    one.send(message);
    await one.closed;
    expect(fixture.ingest.offers).toEqual([]);
  });

  test('wants to play is told that nothing is played here', async () => {
    const one = await fixture.sender(await fixture.listening());
    one.shake();
    one.send(commandMessage(0, 'connect', 1, { app: 'live' }));
    one.send(commandMessage(1, 'play', 2, null, 'KEY'));
    await one.until((all) => all.codes().includes('NetStream.Play.StreamNotFound'));
    expect(fixture.ingest.offers).toEqual([]);
  });

  test('asks much and never reads the answers is closed', async () => {
    const port = await fixture.listening({ messagesPerS: Number.POSITIVE_INFINITY });
    const { source, session } = await fixture.live(port);
    source.socket.pause();
    const question = chunked(userControl(PING_REQUEST, 1), 2, 128);
    const questions = Buffer.concat(Array.from({ length: 1_000 }, () => question));
    const flood = () => {
      while (session.ending === null && source.socket.write(questions));
    };
    source.socket.on('drain', flood);
    flood();
    await session.until(({ ending }) => ending !== null);
    expect(session.ending).toBe('connection lost');
  });

  test('sends messages without end before it publishes is closed', async () => {
    const one = await fixture.sender(await fixture.listening());
    one.shake();
    // One byte each: a chunk of format 3 repeats the empty message before it.
    const flood = Buffer.concat([chunked({ ...picture(0), payload: EMPTY }, 3, 128), REPEATED]);
    one.socket.write(flood);
    await one.closed;
    expect(fixture.ingest.offers).toEqual([]);
    const two = await fixture.sender(await fixture.listening());
    two.shake();
    two.send(
      ...Array.from({ length: 40 }, () => ({ ...picture(0), payload: Buffer.alloc(8_000) })),
    );
    await two.closed;
  });

  test('sends empty messages without end as a source is told so', async () => {
    const { source, session } = await fixture.live(await fixture.listening());
    source.socket.write(chunked({ ...picture(0), payload: EMPTY }, 3, 128));
    source.socket.write(REPEATED);
    await session.until(({ ending }) => ending !== null);
    expect(session.ending).toBe('The video is cut into too many pieces.');
    await source.until((all) => all.codes().includes(FAILED));
  });

  test.each([
    ['garbage', 'never came', (one: TestSender) => one.socket.write(Buffer.alloc(400, 0xc5))],
    [
      'HEVC',
      'set the encoder to H.264',
      (one: TestSender) => {
        one.send({ ...picture(0), payload: Buffer.from('\x91hvc1') });
      },
    ],
    [
      'another time',
      'jumped by',
      (one: TestSender) => {
        one.send(picture(100_000), picture(0));
      },
    ],
    [
      'a message too large',
      'too large',
      (one: TestSender) => {
        one.socket.write(Uint8Array.of(6, 0, 0, 0, 0xff, 0xff, 0xff, VIDEO, 1, 0, 0, 0));
      },
    ],
  ])('sends %s as a source is told so, and only it ends', async (_, line, act) => {
    fixture.ingest.keys.set('OTHER', 'another');
    const port = await fixture.listening();
    const { source, session } = await fixture.live(port);
    const { source: bad, session: badSession } = await fixture.live(port, 'OTHER');
    act(bad);
    await badSession.until(({ ending }) => ending !== null);
    expect(badSession.ending).toContain(line);
    await bad.until((one) => one.codes().includes(FAILED));
    source.send(picture(40));
    await session.until(({ receivedBytes }) => receivedBytes > 100);
    expect(session.ending).toBeNull();
  });

  test('sends nothing any more has ended', async () => {
    const { source, session } = await fixture.live(await fixture.listening({ idleMs: 50 }));
    await session.until(({ ending }) => ending !== null);
    expect(session.ending).toBe('timeout');
    await source.until((one) => one.codes().includes(FAILED));
  });

  test('[M-5] guesses keys is slowed', async () => {
    const guess = async (port: number, times: number) => {
      for (let turn = 0; turn < times; turn++) {
        const one = await fixture.sender(port);
        one.publish('WRONG');
        await one.closed;
      }
    };
    await guess(await fixture.listening({ restMs: 60_000 }), 40);
    expect(fixture.ingest.offers.length).toBe(16);
    fixture.ingest.offers.length = 0;
    await guess(await fixture.listening({ restMs: 0 }), 40);
    expect(fixture.ingest.offers.length).toBe(40);
  });

  test('is refused and does not hang up is closed', async () => {
    const one = await fixture.sender(await fixture.listening({ lingerMs: 50 }), true);
    one.publish('WRONG');
    await one.until((all) => all.codes().includes(BAD_NAME));
    const writing = setInterval(() => one.socket.write(Buffer.alloc(100)), 10);
    await one.closed;
    clearInterval(writing);
  });
});

test('[M-16] crowds of strangers do not disturb a source', async () => {
  const port = await fixture.listening({ handshakeMs: 500, publishMs: 500, restMs: 0 });
  const { source, session } = await fixture.live(port);
  const strangers = await Promise.all(Array.from({ length: 200 }, () => fixture.sender(port)));
  const sent: Uint8Array[] = [];
  for (const [index, stranger] of strangers.entries()) {
    // One in three says nothing, one whispers, one shouts.
    if (index % 3 === 1) stranger.socket.write(Uint8Array.of(3));
    if (index % 3 === 2) stranger.socket.write(crypto.getRandomValues(new Uint8Array(5_000)));
    const frame = picture(index * 40, 300, index === 0);
    sent.push(flvTag(VIDEO, index * 40, frame.payload));
    source.send(frame);
  }
  await Promise.all(strangers.map(({ closed }) => closed));
  await session.until(({ receivedBytes }) => receivedBytes >= 13 + 200 * 315);
  expect(Buffer.from(session.bytes()).subarray(13).equals(Buffer.concat(sent))).toBe(true);
  expect(session.ending).toBeNull();
  // There is room again.
  const next = await fixture.sender(port);
  next.publish('WRONG');
  await next.until((one) => one.codes().includes(BAD_NAME));
});
