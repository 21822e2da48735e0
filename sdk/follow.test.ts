import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, QUIZ, world } from '../test/support/sdk/join-fixture.ts';
import { pictureOf } from './pictures.ts';

afterEach(leaveAll);

describe('with a picture that is 6 s late', () => {
  const LATE_MS = 6_000;

  test('the quiz is there with its picture, and the countdown runs on what is seen', async () => {
    const { machine, service, join } = world({}, 2 * LATE_MS);
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(8_000);
    service.openQuiz(QUIZ);
    await machine.advance(LATE_MS - 500);
    expect(viewer.quiz).toBeNull();
    await machine.advance(1_000);
    expect(viewer.quiz).not.toBeNull();
    expect(viewer.remainingMs()).toBeGreaterThan(4_000);
    await machine.advance(4_600);
    expect(viewer.remainingMs()).toBe(0);
  });

  test('the countdown ends when answers stop, however much of it is on screen', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(8_000);
    service.openQuiz({ ...QUIZ, durationMs: 2 * LATE_MS });
    await machine.advance(LATE_MS + 500);
    expect(viewer.remainingMs()).toBeGreaterThan(LATE_MS - 1_000);
    expect(viewer.remainingMs()).toBeLessThan(LATE_MS - 500);
  });

  test('who had none until now has it without a request: what was shown is kept', async () => {
    const { machine, service, requests, join } = world();
    const viewer = join();
    await machine.advance(8_000);
    service.say('message', 'Hello');
    await machine.advance(4_000);
    expect(viewer.snapshot.lines).toHaveLength(1);
    requests.length = 0;
    const shown: number[] = [];
    viewer.on('jump', ({ interval }) => shown.push(interval));
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(1_000);
    expect(shown).toHaveLength(1);
    // It has not happened there yet.
    expect(viewer.snapshot.lines).toEqual([]);
    await machine.advance(2_000);
    expect(viewer.snapshot.lines).toHaveLength(1);
    expect(requests.filter((one) => one.includes('events-streams'))).toEqual([]);
  });

  test('what is kept of it is half a minute', async () => {
    const { machine, join } = world();
    const viewer = join();
    await machine.advance(60_000);
    let kept: number[] = [];
    const { wallClockMs, hold } = pictureOf(() => null);
    viewer.follow({
      wallClockMs,
      hold: (env, past, listener, shown) => {
        kept = shown.map(({ interval }) => interval);
        return hold(env, past, listener, shown);
      },
    });
    expect(kept).toHaveLength(120);
    expect(kept.at(-1)).toBe(Math.floor(machine.nowMs / 250) - 1);
  });

  test.each(['before', 'after'])(
    'a show that is over is replayed: followed %s its end',
    async (when) => {
      const { machine, service, join } = world();
      const viewer = join({ catchUpMs: 5_000 });
      const startMs = machine.nowMs;
      let wallMs = startMs;
      const picture = pictureOf(() => wallMs);
      if (when === 'before') viewer.follow(picture);
      await machine.advance(1_000);
      service.say('message', 'Hello');
      for (let s = 0; s < 60; s++) {
        await machine.advance(1_000);
        wallMs += 1_000;
      }
      service.setStatus('ENDED');
      await machine.advance(30_000);
      expect(viewer.state).toBe('ended');
      const endMs = machine.nowMs;
      service.say('message', 'after all was over');
      await machine.advance(5_000);
      if (when === 'after') viewer.follow(picture);
      await machine.advance(500);
      const told: string[] = [];
      viewer.on('chats', ({ messages }) => told.push(...messages.map(({ text }) => text)));
      const playFrom = async (ms: number) => {
        wallMs = ms;
        for (let s = 0; s < 20; s++) {
          await machine.advance(250);
          wallMs += 250;
        }
      };
      await playFrom(startMs);
      expect(told).toEqual(['Hello']);
      await playFrom(endMs - 1_000);
      expect(told).toEqual(['Hello', 'after all was over']);
    },
  );

  test('who has won reports at once, and sees it with the picture', async () => {
    const { machine, service, join } = world();
    service.setStatus('CREATED');
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(8_000);
    service.requestWinners();
    await machine.advance(3_000);
    expect(viewer.snapshot.winners.count).toBeNull();
    await machine.advance(6_000);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: true, count: 1 });
  });
});
