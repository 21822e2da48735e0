import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  picture,
  RtmpFixture,
  type TestSender,
  TestSession,
} from '../../../test/support/media/rtmp-fixture.ts';
import { SourceRefused, type SourceRequest, type SourceSession } from '../source.ts';
import { writeAmf } from './amf0.ts';
import type { RtmpLimits } from './rtmp-limits.ts';
import {
  ACKNOWLEDGEMENT,
  AUDIO,
  controlMessage,
  DATA,
  PING_REQUEST,
  PING_RESPONSE,
  SET_CHUNK_SIZE,
  USER_CONTROL,
  uint32Of,
  userControl,
  VIDEO,
  WINDOW_SIZE,
} from './rtmp-message.ts';
import { FAILED } from './status-codes.ts';

let fixture: RtmpFixture;

beforeEach(() => {
  fixture = new RtmpFixture();
});

afterEach(() => fixture.close());

describe('back-pressure', () => {
  /** Sends 64 KB frames as fast as the socket accepts them. */
  function flood(source: TestSender): { sentBytes: () => number } {
    let frames = 0;
    source.send(controlMessage(SET_CHUNK_SIZE, 65_536));
    const more = () => {
      while (frames < 1_000 && !source.socket.destroyed) {
        const frame = picture(frames * 40, 65_536);
        const header = Buffer.from([6, 0, 0, 0, 1, 0, 0, VIDEO, 1, 0, 0, 0]);
        header.writeUIntBE(frame.timestampMs, 1, 3);
        frames++;
        if (!source.socket.write(Buffer.concat([header, frame.payload]))) return;
      }
    };
    source.socket.on('drain', more);
    more();
    return { sentBytes: () => frames * 65_548 };
  }

  test('stops the sender, and everything arrives once it ends', async () => {
    const { source, session } = await fixture.live(await fixture.listening());
    session.isFull = true;
    const { sentBytes } = flood(source);
    await session.until(({ receivedBytes }) => receivedBytes > 0);
    // Wait until the kernel buffers on both sides are full.
    let before = -1;
    while (before !== sentBytes()) {
      before = sentBytes();
      await Bun.sleep(200);
    }
    expect(session.receivedBytes).toBeLessThan(2 << 20);
    expect(sentBytes()).toBeLessThan(40 << 20);
    session.drain();
    await session.until(({ receivedBytes }) => receivedBytes === 13 + 1_000 * (65_536 + 15));
    expect(session.ending).toBeNull();
  });

  test('may start and end repeatedly', async () => {
    const { source, session } = await fixture.live(
      await fixture.listening({ backPressureMs: 300 }),
    );
    for (let turn = 1; turn <= 3; turn++) {
      session.isFull = true;
      source.send(picture(turn * 40));
      await session.until(({ receivedBytes }) => receivedBytes === 13 + turn * 115);
      session.drain();
    }
    // Longer than the back-pressure limit, without back-pressure.
    await Bun.sleep(900);
    expect(session.ending).toBeNull();
  });

  test('that lasts too long ends the source', async () => {
    const { source, session } = await fixture.live(
      await fixture.listening({ backPressureMs: 100 }),
    );
    session.isFull = true;
    flood(source);
    await session.until(({ ending }) => ending !== null);
    expect(session.ending).toBe('The video arrives faster than it can be encoded.');
    await source.closed;
  });

  test('does not count as silence', async () => {
    const { source, session } = await fixture.live(await fixture.listening({ idleMs: 300 }));
    session.isFull = true;
    source.send(picture(0));
    await session.until(({ receivedBytes }) => receivedBytes > 0);
    await Bun.sleep(800);
    expect(session.ending).toBeNull();
    session.drain();
    source.send(picture(40));
    await session.until(({ receivedBytes }) => receivedBytes > 200);
  });
});

test('[M-7] a sender that closes without unpublish counts as disconnected', async () => {
  const { source, session } = await fixture.live(await fixture.listening());
  source.socket.end();
  await session.until(({ ending }) => ending !== null);
  expect(session.ending).toBe('connection lost');
});

describe('while the service decides', () => {
  test('media that arrives early is buffered, not lost', async () => {
    const gate = Promise.withResolvers<void>();
    const open = async (request: SourceRequest) => {
      await gate.promise;
      return fixture.ingest.open(request);
    };
    const source = await fixture.sender(await fixture.listening({}, open));
    const accepted = fixture.ingest.next();
    source.publish('KEY');
    source.send(picture(0, 200_000), picture(40));
    gate.resolve();
    const session = await accepted;
    await session.until(({ receivedBytes }) => receivedBytes === 13 + 200_015 + 115);
  });

  test('a sender that closes counts as disconnected', async () => {
    const { source, session, answer } = await started();
    source.socket.destroy();
    await source.closed;
    answer();
    await session.until(({ ending }) => ending !== null);
    expect(session.ending).toBe('connection lost');
  });

  test('a missing decision is a refusal, and a late session is ended', async () => {
    const { source, session, answer } = await started({ openMs: 50 });
    await source.until((sender) => sender.codes().includes(FAILED));
    answer();
    await session.until(({ ending }) => ending !== null);
    expect(session.ending).toBe('the service did not respond');
  });

  /** A sender that waits for a decision, and the resolver of that decision. */
  async function started(limits: Partial<RtmpLimits> = {}) {
    const gate = Promise.withResolvers<SourceSession>();
    const question = Promise.withResolvers<void>();
    const port = await fixture.listening(limits, () => {
      question.resolve();
      return gate.promise;
    });
    const source = await fixture.sender(port);
    source.publish('KEY');
    await question.promise;
    const session = new TestSession('stream');
    return { source, session, answer: () => gate.resolve(session) };
  }

  test.each([
    ['it fails', () => Promise.reject(new Error('a secret')), FAILED],
    [
      'it throws',
      () => {
        throw new Error('a secret');
      },
      FAILED,
    ],
    ['it is unavailable', () => Promise.reject(new SourceRefused('unavailable', 'Again.')), FAILED],
    [
      'it ended',
      () => Promise.reject(new SourceRefused('ended', 'Over.')),
      'NetStream.Publish.BadName',
    ],
  ])('%s: a refusal', async (_, open, code) => {
    const source = await fixture.sender(await fixture.listening({}, open));
    source.publish('KEY');
    await source.until((sender) => sender.codes().includes(code));
    const sentTexts = source.messages.map(({ payload }) => Buffer.from(payload).toString('latin1'));
    expect(sentTexts.join()).not.toContain('secret');
  });
});

test('a ping gets a response, and received bytes are acknowledged', async () => {
  const { source } = await fixture.live(await fixture.listening());
  source.send(userControl(PING_REQUEST, 77), controlMessage(WINDOW_SIZE, 100));
  source.send({ ...picture(0), type: AUDIO, payload: new Uint8Array(70_000) });
  await source.until((sender) => sender.messages.some(({ type }) => type === ACKNOWLEDGEMENT));
  const answers = source.messages.filter(({ type }) => type === USER_CONTROL);
  const response = Buffer.from(userControl(PING_RESPONSE, 77).payload);
  expect(answers.some(({ payload }) => response.equals(payload))).toBe(true);
  const confirmed = source.messages.find(({ type }) => type === ACKNOWLEDGEMENT);
  expect(confirmed && uint32Of(confirmed)).toBeGreaterThan(64 << 10);
});

test('no acknowledgement is sent without a request', async () => {
  const { source } = await fixture.live(await fixture.listening());
  for (let frame = 0; frame < 60; frame++) source.send(picture(frame * 40, 100_000));
  source.send(userControl(PING_REQUEST, 77));
  const isPong = Buffer.from(userControl(PING_RESPONSE, 77).payload);
  await source.until((sender) => sender.messages.some(({ payload }) => isPong.equals(payload)));
  expect(source.messages.some(({ type }) => type === ACKNOWLEDGEMENT)).toBe(false);
});

test('data other than metadata is ignored', async () => {
  const { source, session } = await fixture.live(await fixture.listening());
  const data = (name: string) => {
    return { type: DATA, streamId: 1, timestampMs: 0, payload: writeAmf([name, { a: 1 }]) };
  };
  source.send(data('onTextData'), data('onMetaData'), picture(0));
  await session.until(({ receivedBytes }) => receivedBytes > 115);
  const text = Buffer.from(session.bytes()).toString('latin1');
  expect([text.includes('onMetaData'), text.includes('onTextData')]).toEqual([true, false]);
});
