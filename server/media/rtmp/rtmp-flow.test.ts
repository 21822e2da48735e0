import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { FakeSession } from '../../../test/support/media/fake-ingest.ts';
import {
  RtmpFixture,
  type TestSender,
  videoMessage,
} from '../../../test/support/media/rtmp-fixture.ts';
import { SourceRefused, type SourceRequest, type SourceSession } from '../source.ts';
import { writeAmf } from './amf0.ts';
import { FAILED } from './rtmp-connection.ts';
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

let fixture: RtmpFixture;
// Byte counts: an FLV file header has 13 bytes, a tag 15 besides its payload (100 by default).

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
        const frame = videoMessage(frames * 40, 65_536);
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

  test('RTMP back-pressure stops the sender, and everything arrives once it ends', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen());
    session.acceptsMore = false;
    const { sentBytes } = flood(source);
    await session.waitForBytes(1);
    // Wait until the kernel buffers on both sides are full.
    let before = -1;
    while (before !== sentBytes()) {
      before = sentBytes();
      await Bun.sleep(200);
    }
    expect(session.bytes).toBeLessThan(2 << 20);
    expect(sentBytes()).toBeLessThan(40 << 20);
    session.drain();
    await session.waitForBytes(13 + 1_000 * (65_536 + 15));
    expect(session.bytes).toBe(13 + 1_000 * (65_536 + 15));
    expect(session.endReason).toBeNull();
  });

  test('RTMP back-pressure may start and end repeatedly', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen({ backPressureMs: 300 }));
    for (let turn = 1; turn <= 3; turn++) {
      session.acceptsMore = false;
      source.send(videoMessage(turn * 40));
      await session.waitForBytes(13 + turn * 115);
      expect(session.bytes).toBe(13 + turn * 115);
      session.drain();
    }
    // Longer than the back-pressure limit, without back-pressure.
    await Bun.sleep(900);
    expect(session.endReason).toBeNull();
  });

  test('RTMP back-pressure that lasts too long ends the source', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen({ backPressureMs: 100 }));
    session.acceptsMore = false;
    flood(source);
    expect(await session.waitForEnd()).toBe('The video arrives faster than it can be encoded.');
    await source.closed;
  });

  test('RTMP back-pressure does not count as silence', async () => {
    const { source, session } = await fixture.goLive(await fixture.listen({ idleMs: 300 }));
    session.acceptsMore = false;
    source.send(videoMessage(0));
    await session.waitForBytes(1);
    await Bun.sleep(800);
    expect(session.endReason).toBeNull();
    session.drain();
    source.send(videoMessage(40));
    await session.waitForBytes(200);
  });
});

test('[M-7] a sender that closes without unpublish counts as disconnected', async () => {
  const { source, session } = await fixture.goLive(await fixture.listen());
  source.socket.end();
  expect(await session.waitForEnd()).toBe('connection lost');
});

describe('while the service decides', () => {
  test('media that arrives before the service accepts the source is buffered', async () => {
    const gate = Promise.withResolvers<void>();
    const open = async (request: SourceRequest) => {
      await gate.promise;
      return fixture.ingest.open(request);
    };
    const source = await fixture.connect(await fixture.listen({}, open));
    const accepted = fixture.ingest.next();
    source.publish('KEY');
    source.send(videoMessage(0, 200_000), videoMessage(40));
    gate.resolve();
    const session = await accepted;
    await session.waitForBytes(13 + 200_015 + 115);
    expect(session.bytes).toBe(13 + 200_015 + 115);
  });

  test('a sender that closes before the decision counts as disconnected', async () => {
    const { source, session, decide } = await startWaiting();
    source.socket.destroy();
    await source.closed;
    decide();
    expect(await session.waitForEnd()).toBe('connection lost');
  });

  test('a source is refused when the decision takes too long, and a late session is ended', async () => {
    const { source, session, decide } = await startWaiting({ openMs: 50 });
    await source.until((sender) => sender.codes().includes(FAILED));
    decide();
    expect(await session.waitForEnd()).toBe('the service did not respond');
  });

  /** A sender that waits for a decision, and the resolver of that decision. */
  async function startWaiting(limits: Partial<RtmpLimits> = {}) {
    const gate = Promise.withResolvers<SourceSession>();
    const requested = Promise.withResolvers<SourceRequest>();
    const port = await fixture.listen(limits, (request) => {
      requested.resolve(request);
      return gate.promise;
    });
    const source = await fixture.connect(port);
    source.publish('KEY');
    const session = new FakeSession('stream', await requested.promise);
    return { source, session, decide: () => gate.resolve(session) };
  }

  test.each([
    ['a rejected decision', () => Promise.reject(new Error('a secret')), FAILED],
    [
      'an exception',
      () => {
        throw new Error('a secret');
      },
      FAILED,
    ],
    [
      'an unavailable service',
      () => Promise.reject(new SourceRefused('unavailable', 'Again.')),
      FAILED,
    ],
    [
      'an ended stream',
      () => Promise.reject(new SourceRefused('ended', 'Over.')),
      'NetStream.Publish.BadName',
    ],
  ])('%s refuses the source', async (_, open, code) => {
    const source = await fixture.connect(await fixture.listen({}, open));
    source.publish('KEY');
    await source.until((sender) => sender.codes().includes(code));
    const sentTexts = source.messages.map(({ payload }) => Buffer.from(payload).toString('latin1'));
    expect(sentTexts.join()).not.toContain('secret');
  });
});

test('an RTMP ping gets a response, and received bytes are acknowledged', async () => {
  const { source } = await fixture.goLive(await fixture.listen());
  source.send(userControl(PING_REQUEST, 77), controlMessage(WINDOW_SIZE, 100));
  source.send({ ...videoMessage(0), type: AUDIO, payload: new Uint8Array(70_000) });
  await source.until((sender) => sender.messages.some(({ type }) => type === ACKNOWLEDGEMENT));
  const responses = source.messages.filter(({ type }) => type === USER_CONTROL);
  const response = Buffer.from(userControl(PING_RESPONSE, 77).payload);
  expect(responses.some(({ payload }) => response.equals(payload))).toBe(true);
  const acknowledgement = source.messages.find(({ type }) => type === ACKNOWLEDGEMENT);
  expect(acknowledgement && uint32Of(acknowledgement)).toBeGreaterThan(64 << 10);
});

test('RTMP bytes are not acknowledged without a request', async () => {
  const { source } = await fixture.goLive(await fixture.listen());
  for (let frame = 0; frame < 60; frame++) source.send(videoMessage(frame * 40, 100_000));
  source.send(userControl(PING_REQUEST, 77));
  const pong = Buffer.from(userControl(PING_RESPONSE, 77).payload);
  await source.until((sender) => sender.messages.some(({ payload }) => pong.equals(payload)));
  expect(source.messages.some(({ type }) => type === ACKNOWLEDGEMENT)).toBe(false);
});

test('RTMP data messages other than metadata are ignored', async () => {
  const { source, session } = await fixture.goLive(await fixture.listen());
  const data = (name: string) => {
    return { type: DATA, streamId: 1, timestampMs: 0, payload: writeAmf([name, { a: 1 }]) };
  };
  source.send(data('onTextData'), data('onMetaData'), videoMessage(0));
  await session.waitForBytes(115);
  const text = Buffer.from(session.content()).toString('latin1');
  expect([text.includes('onMetaData'), text.includes('onTextData')]).toEqual([true, false]);
});
