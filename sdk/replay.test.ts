import { afterEach, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll, QUIZ } from '../test/support/sdk/join-fixture.ts';
import { pictureOf } from './pictures.ts';

afterEach(leaveAll);

/** A finished show with a quiz after 10 s, and a viewer who replays it from its start. */
async function replay() {
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
  let aheadMs = startMs - machine.nowMs;
  viewer.follow(pictureOf(() => machine.nowMs + aheadMs));
  const seek = async (ms: number) => {
    aheadMs = startMs + ms - machine.nowMs;
    await machine.advance(1_500);
  };
  await seek(8_000);
  await machine.advance(2_000);
  expect(viewer.quiz?.quiz.id).toBe(quiz.id);
  return { viewer, seek, machine };
}

test('seeking forward over the results of a quiz in a replay hides the quiz', async () => {
  const { viewer, seek } = await replay();
  await seek(36_000);
  expect(viewer.quiz).toBeNull();
});

test('seeking within the time of a quiz in a replay keeps showing it, with its results', async () => {
  const { viewer, seek, machine } = await replay();
  await seek(11_500);
  expect(viewer.quiz?.results).toBeNull();
  await machine.advance(4_000);
  expect(viewer.quiz?.results?.answer).toBe('Jupiter');
  await seek(9_000);
  await machine.advance(1_000);
  expect(viewer.quiz?.results).toBeNull();
});
