import { afterEach, describe, expect, test } from 'bun:test';
import {
  createJoinFixture,
  createStorage,
  type JoinFixture,
  leaveAll,
} from '../test/support/sdk/join-fixture.ts';
import { pictureOf } from './pictures.ts';
import type { Viewer } from './viewer.ts';

afterEach(leaveAll);

const textsOf = ({ snapshot }: Viewer) => snapshot.messages.map(({ text }) => text);

/** Sends messages, one every 500 ms. */
async function sendMessages({ service, machine }: JoinFixture, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    service.sendMessage('message', text);
    await machine.advance(500);
  }
}

describe.each(['stream', 'poll'] as const)('with the feed by %s', (transport) => {
  test('[C-22] a viewer who joins late gets the chat so far, and each message once', async () => {
    const fixture = createJoinFixture();
    await sendMessages(fixture, 'one', 'two', 'three');
    await fixture.machine.advance(60_000);
    // The feed starts a second back, so that it has this message too.
    await sendMessages(fixture, 'four');
    const viewer = fixture.join({ transport });
    await fixture.machine.advance(1_000);
    await sendMessages(fixture, 'five');
    await fixture.machine.advance(1_000);
    expect(textsOf(viewer)).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  test.each([2_000, 20_000])(
    '[C-22] a reload after %d ms keeps the chat, with what was written meanwhile',
    async (absentMs) => {
      const fixture = createJoinFixture();
      const options = { storage: createStorage(), transport };
      const before = fixture.join(options);
      await fixture.machine.advance(2_000);
      await sendMessages(fixture, 'one', 'two');
      await fixture.machine.advance(2_000);
      before.leave();
      await sendMessages(fixture, 'three');
      await fixture.machine.advance(absentMs);
      const after = fixture.join(options);
      await fixture.machine.advance(2_000);
      expect(textsOf(after)).toEqual(['one', 'two', 'three']);
    },
  );

  test('[C-22] a viewer who missed a part of the feed gets the messages of that part', async () => {
    const fixture = createJoinFixture();
    const viewer = fixture.join({ transport, catchUpMs: 5_000 });
    await fixture.machine.advance(3_000);
    await sendMessages(fixture, 'before');
    await fixture.machine.advance(1_000);
    fixture.service.breakStreams();
    const endFault = fixture.service.fail({ result: 'cut' });
    await sendMessages(fixture, 'during');
    await fixture.machine.advance(30_000);
    endFault();
    await fixture.machine.advance(20_000);
    await sendMessages(fixture, 'after');
    await fixture.machine.advance(1_000);
    expect(textsOf(viewer)).toEqual(['before', 'during', 'after']);
  });
});

test('[C-22] the chat stays when the video of the show appears', async () => {
  const LATENCY_MS = 6_000;
  const fixture = createJoinFixture();
  const { machine } = fixture;
  const viewer = fixture.join();
  await sendMessages(fixture, 'lobby');
  await machine.advance(20_000);
  await sendMessages(fixture, 'start');
  await machine.advance(1_000);
  const jumps: number[] = [];
  viewer.on('jump', ({ interval }) => jumps.push(interval));
  viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
  await machine.advance(1_000);
  expect(jumps).toHaveLength(1);
  // The last message is later than the frame on screen.
  expect(textsOf(viewer)).toEqual(['lobby']);
  await machine.advance(LATENCY_MS);
  expect(textsOf(viewer)).toEqual(['lobby', 'start']);
});

test('[C-22] the chat stays when the video skips ahead after an interruption', async () => {
  const fixture = createJoinFixture();
  const { machine } = fixture;
  const viewer = fixture.join();
  let behindMs = 4_000;
  viewer.follow(pictureOf(() => machine.nowMs - behindMs));
  await machine.advance(5_000);
  await sendMessages(fixture, 'before');
  await machine.advance(5_000);
  const frozenMs = machine.nowMs - behindMs;
  viewer.follow(pictureOf(() => frozenMs));
  await machine.advance(20_000);
  behindMs = 4_000;
  viewer.follow(pictureOf(() => machine.nowMs - behindMs));
  await machine.advance(1_000);
  expect(textsOf(viewer)).toEqual(['before']);
});

test('a seek back removes messages that were not written then', async () => {
  const fixture = createJoinFixture();
  const { machine } = fixture;
  const viewer = fixture.join();
  let behindMs = 2_000;
  viewer.follow(pictureOf(() => machine.nowMs - behindMs));
  await machine.advance(5_000);
  await sendMessages(fixture, 'early');
  await machine.advance(10_000);
  await sendMessages(fixture, 'late');
  await machine.advance(5_000);
  expect(textsOf(viewer)).toEqual(['early', 'late']);
  behindMs = 10_000;
  await machine.advance(500);
  expect(textsOf(viewer)).toEqual(['early']);
  await machine.advance(10_000);
  expect(textsOf(viewer)).toEqual(['early', 'late']);
});
