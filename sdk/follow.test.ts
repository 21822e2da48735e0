import { afterEach, describe, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll, QUIZ } from '../test/support/sdk/join-fixture.ts';
import { pictureOf } from './pictures.ts';

afterEach(leaveAll);

const LATENCY_MS = 6_000;

describe('with a picture that is 6 s behind', () => {
  test('the quiz appears with its frame, and the countdown follows the picture', async () => {
    const { machine, service, join } = createJoinFixture({}, 2 * LATENCY_MS);
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
    await machine.advance(8_000);
    service.openQuiz(QUIZ);
    await machine.advance(LATENCY_MS - 500);
    expect(viewer.quiz).toBeNull();
    await machine.advance(1_000);
    expect(viewer.quiz).not.toBeNull();
    expect(viewer.remainingMs()).toBeGreaterThan(4_000);
    await machine.advance(4_600);
    expect(viewer.remainingMs()).toBe(0);
  });

  test('the countdown ends when the quiz closes, also when the picture is behind', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
    await machine.advance(8_000);
    service.openQuiz({ ...QUIZ, durationMs: 2 * LATENCY_MS });
    await machine.advance(LATENCY_MS + 500);
    expect(viewer.remainingMs()).toBeGreaterThan(LATENCY_MS - 1_000);
    expect(viewer.remainingMs()).toBeLessThan(LATENCY_MS - 500);
  });

  test('a picture that attaches later shows recent intervals without requests', async () => {
    const { machine, service, requests, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(8_000);
    service.sendMessage('message', 'Hello');
    await machine.advance(4_000);
    expect(viewer.snapshot.messages).toHaveLength(1);
    requests.length = 0;
    const shown: number[] = [];
    viewer.on('jump', ({ interval }) => shown.push(interval));
    viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
    await machine.advance(1_000);
    expect(shown).toHaveLength(1);
    // The message is later than the frame on screen.
    expect(viewer.snapshot.messages).toEqual([]);
    await machine.advance(2_000);
    expect(viewer.snapshot.messages).toHaveLength(1);
    expect(requests.filter((request) => request.includes('events-streams'))).toEqual([]);
  });

  test('recent intervals cover 30 s', async () => {
    const { machine, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(60_000);
    let recent: number[] = [];
    const { wallClockMs, createBuffer } = pictureOf(() => null);
    viewer.follow({
      wallClockMs,
      createBuffer: (env, source, listener, shown) => {
        recent = shown.map(({ interval }) => interval);
        return createBuffer(env, source, listener, shown);
      },
    });
    expect(recent).toHaveLength(120);
    expect(recent.at(-1)).toBe(Math.floor(machine.nowMs / 250) - 1);
  });

  test.each(['before', 'after'])(
    'a show that is over is replayed when the picture attached %s its end',
    async (when) => {
      const { machine, service, join } = createJoinFixture();
      const viewer = join({ catchUpMs: 5_000 });
      const startMs = machine.nowMs;
      let wallMs = startMs;
      const picture = pictureOf(() => wallMs);
      if (when === 'before') viewer.follow(picture);
      await machine.advance(1_000);
      service.sendMessage('message', 'Hello');
      for (let s = 0; s < 60; s++) {
        await machine.advance(1_000);
        wallMs += 1_000;
      }
      service.setStatus('ENDED');
      await machine.advance(30_000);
      expect(viewer.state).toBe('ended');
      const endMs = machine.nowMs;
      service.sendMessage('message', 'after the end');
      await machine.advance(5_000);
      if (when === 'after') viewer.follow(picture);
      await machine.advance(500);
      const received: string[] = [];
      viewer.on('chats', ({ messages }) => received.push(...messages.map(({ text }) => text)));
      const playFrom = async (ms: number) => {
        wallMs = ms;
        for (let s = 0; s < 20; s++) {
          await machine.advance(250);
          wallMs += 250;
        }
      };
      await playFrom(startMs);
      expect(received).toEqual(['Hello']);
      await playFrom(endMs - 1_000);
      expect(received).toEqual(['Hello', 'after the end']);
    },
  );

  test('a winner is reported at once, and shown with the picture', async () => {
    const { machine, service, join } = createJoinFixture();
    service.setStatus('CREATED');
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
    await machine.advance(8_000);
    service.requestWinners();
    await machine.advance(3_000);
    expect(viewer.snapshot.winners.count).toBeNull();
    await machine.advance(6_000);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: true, count: 1 });
  });
});

test.each([
  ['back to live after a pause of 20 s', 20],
  // Longer than the feed that playback has not reached is buffered.
  ['back to live after a pause of 12 minutes', 720],
])('[C-16] a viewer who goes %s gets the changes between, once', async (_, pauseS) => {
  const { machine, service, join } = createJoinFixture();
  const viewer = join();
  const received: string[] = [];
  viewer.on('event', ({ type }) => /chat-|product/.test(type) && received.push(type));
  viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
  await machine.advance(20_000);
  const pausedMs = machine.nowMs - LATENCY_MS;
  viewer.follow(pictureOf(() => pausedMs));
  service.publish('chat-hidden', { ids: ['1'] });
  await machine.advance(5_000);
  service.publish('product', { id: '2' });
  service.publish('chat-mode', { slowModeMs: 0, paused: true });
  await machine.advance(pauseS * 1_000);
  expect(received).toEqual([]);
  viewer.follow(pictureOf(() => machine.nowMs - LATENCY_MS));
  await machine.advance(60_000);
  expect(received).toEqual(['chat-hidden', 'product', 'chat-mode']);
});

/** Replays a show that is over, from 8 s on; its quiz was published after 10 s. */
async function startReplay() {
  const { machine, service, join } = createJoinFixture();
  const startMs = machine.nowMs;
  // A viewer has to read the feed, or the mock seals nothing.
  const before = join({ viewerId: 'bob' });
  await machine.advance(10_000);
  const quiz = service.openQuiz(QUIZ);
  await machine.advance(60_000);
  service.setStatus('ENDED');
  before.leave();
  const viewer = join();
  await machine.advance(1_000);
  let pictureOffsetMs = startMs - machine.nowMs;
  viewer.follow(pictureOf(() => machine.nowMs + pictureOffsetMs));
  const seek = async (ms: number) => {
    pictureOffsetMs = startMs + ms - machine.nowMs;
    await machine.advance(1_500);
  };
  await seek(8_000);
  await machine.advance(2_000);
  expect(viewer.quiz?.quiz.id).toBe(quiz.id);
  return { viewer, seek, machine };
}

test('seeking forward over the results of a quiz in a replay hides the quiz', async () => {
  const { viewer, seek } = await startReplay();
  await seek(36_000);
  expect(viewer.quiz).toBeNull();
});

test('seeking within the time of a quiz in a replay keeps showing it, with its results', async () => {
  const { viewer, seek, machine } = await startReplay();
  await seek(11_500);
  expect(viewer.quiz?.results).toBeNull();
  await machine.advance(4_000);
  expect(viewer.quiz?.results?.answer).toBe('Jupiter');
  await seek(9_000);
  await machine.advance(1_000);
  expect(viewer.quiz?.results).toBeNull();
});
