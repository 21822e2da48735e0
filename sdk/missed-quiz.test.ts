import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, QUIZ, storage, type World, world } from '../test/support/sdk/join-fixture.ts';
import type { JoinOptions } from './join-options.ts';
import { pictureOf } from './pictures.ts';
import type { Viewer } from './viewer.ts';

afterEach(leaveAll);

const LONG = { ...QUIZ, durationMs: 60_000 };

/** Who joins, and what is told of quizzes. */
function enter({ join }: World, options: Partial<JoinOptions> = {}) {
  const viewer = join(options);
  const told: string[] = [];
  viewer.on('quiz', ({ id }) => told.push(id));
  return { viewer, told };
}

const winning = ({ snapshot }: Viewer) => snapshot.winners.isWinning;

describe.each(['stream', 'poll'] as const)('with the feed by %s', (transport) => {
  test('who comes in the middle of a quiz sees it, is told once, and answers', async () => {
    const it = world();
    const asked = it.service.openQuiz(LONG);
    await it.machine.advance(30_000);
    const { viewer, told } = enter(it, { transport });
    await it.machine.advance(1_500);
    expect(viewer.quiz).toMatchObject({ quiz: asked, choice: null, results: null });
    expect(viewer.remainingMs()).toBeGreaterThan(28_000);
    expect(viewer.remainingMs()).toBeLessThan(29_000);
    const answer = viewer.answer('Jupiter');
    await it.machine.advance(1_000);
    expect(await answer).toBe('counted');
    expect([...it.service.answersTo(asked.id)]).toEqual([['ada', 'Jupiter']]);
    await it.machine.advance(30_000);
    expect(viewer.quiz).toMatchObject({ outcome: 'counted', results: { answer: 'Jupiter' } });
    expect(told).toEqual([asked.id]);
    // There may have been others before.
    expect(winning(viewer)).toBeNull();
  });

  test('a quiz is told once, whenever somebody comes about when it is asked', async () => {
    const { service, ...it } = world();
    const viewers: ReturnType<typeof enter>[] = [];
    let asked = '';
    for (let ms = -2_000; ms <= 2_000; ms += 25) {
      if (ms === 0) asked = service.openQuiz(LONG).id;
      viewers.push(enter({ service, ...it }, { transport, viewerId: `${ms}` }));
      await it.machine.advance(25);
    }
    await it.machine.advance(5_000);
    for (const { viewer, told } of viewers) {
      expect(told).toEqual([asked]);
      expect(viewer.quiz?.quiz.id).toBe(asked);
    }
  });

  test('who was away when it was asked, and longer than is caught up with, sees it too', async () => {
    const it = world();
    const { viewer, told } = enter(it, { transport, catchUpMs: 5_000 });
    await it.machine.advance(3_000);
    const gaps: object[] = [];
    viewer.on('gap', (gap) => gaps.push(gap));
    it.service.cutStreams();
    const mend = it.service.fail({ how: 'cut' });
    await it.machine.advance(10_000);
    const asked = it.service.openQuiz(LONG);
    await it.machine.advance(20_000);
    mend();
    await it.machine.advance(20_000);
    expect(gaps).toHaveLength(1);
    expect(viewer.quiz?.quiz.id).toBe(asked.id);
    expect(told).toEqual([asked.id]);
  });
});

describe('in the middle of a quiz', () => {
  test.each([2_000, 5_000])(
    'a picture that is %d ms late shows it when it is there, and it is told once',
    async (latencyMs) => {
      const it = world({}, latencyMs);
      const late = () => pictureOf(() => it.machine.nowMs - latencyMs);
      const asked = it.service.openQuiz(LONG);
      await it.machine.advance(1_000);
      // The picture of this one is not at the quiz yet.
      const early = enter(it);
      early.viewer.follow(late());
      await it.machine.advance(latencyMs - 1_500);
      expect([early.viewer.quiz, early.told]).toEqual([null, []]);
      await it.machine.advance(1_500);
      expect(early.viewer.quiz?.quiz.id).toBe(asked.id);
      await it.machine.advance(10_000);
      // That of this one is past it.
      const after = enter(it, { viewerId: 'bob' });
      after.viewer.follow(late());
      await it.machine.advance(2_000);
      expect(after.viewer.quiz?.quiz.id).toBe(asked.id);
      const answers = [early.viewer.answer('Jupiter'), after.viewer.answer('Jupiter')];
      await it.machine.advance(latencyMs + 60_000);
      expect(await Promise.all(answers)).toEqual(['counted', 'counted']);
      expect([early.told, after.told]).toEqual([[asked.id], [asked.id]]);
    },
  );

  test('a picture that takes a while to come shows it then', async () => {
    const it = world();
    const asked = it.service.openQuiz(LONG);
    await it.machine.advance(10_000);
    const { viewer, told } = enter(it);
    const loadedMs = it.machine.nowMs + 3_000;
    viewer.follow(pictureOf(() => (it.machine.nowMs < loadedMs ? null : it.machine.nowMs - 2_000)));
    await it.machine.advance(2_500);
    expect([viewer.quiz, told]).toEqual([null, []]);
    await it.machine.advance(1_500);
    expect([viewer.quiz?.quiz.id, told]).toEqual([asked.id, [asked.id]]);
  });

  test('trouble with the stream is waited for', async () => {
    const it = world();
    const asked = it.service.openQuiz(LONG);
    await it.machine.advance(10_000);
    const mend = it.service.fail({ how: 503, when: ({ path }) => path.includes('/streams/') });
    const { viewer } = enter(it);
    await it.machine.advance(5_000);
    expect(viewer.quiz).toBeNull();
    mend();
    await it.machine.advance(10_000);
    expect(viewer.quiz?.quiz.id).toBe(asked.id);
  });

  test.each([2_000, 20_000])(
    'who loads the page again after %d ms has the answer still, and is not told again',
    async (awayMs) => {
      const it = world();
      const options = { storage: storage() };
      const before = enter(it, options);
      await it.machine.advance(2_000);
      const asked = it.service.openQuiz(LONG);
      await it.machine.advance(1_000);
      const answer = before.viewer.answer('Mars');
      await it.machine.advance(1_000);
      expect(await answer).toBe('counted');
      before.viewer.leave();
      await it.machine.advance(awayMs);
      const after = enter(it, options);
      await it.machine.advance(3_000);
      const theirs = { quiz: { id: asked.id }, choice: 'Mars', outcome: 'counted' };
      expect(after.viewer.quiz).toMatchObject(theirs);
      expect(after.told).toEqual([]);
    },
  );

  test('who answered it on another device may still be winning, and can answer but once', async () => {
    const it = world();
    it.service.setStatus('CREATED');
    const phone = enter(it).viewer;
    await it.machine.advance(2_000);
    const asked = it.service.openQuiz(LONG);
    await it.machine.advance(1_000);
    const answer = phone.answer('Jupiter');
    await it.machine.advance(6_000);
    expect(await answer).toBe('counted');
    const [silent, other] = [enter(it).viewer, enter(it).viewer];
    await it.machine.advance(2_000);
    const again = other.answer('Mars');
    await it.machine.advance(1_000);
    expect(await again).toBe('other-answer');
    await it.machine.advance(60_000);
    expect([winning(phone), winning(silent)]).toEqual([true, null]);
    expect([...it.service.answersTo(asked.id).values()]).toEqual(['Jupiter']);
  });

  test('who leaves while it is asked for sends nothing more', async () => {
    const it = world();
    it.service.openQuiz(LONG);
    await it.machine.advance(10_000);
    it.service.fail({ how: 503, when: ({ path }) => path.includes('/streams/') });
    const { viewer } = enter(it);
    await it.machine.advance(3_000);
    viewer.leave();
    await it.machine.settle();
    it.requests.length = 0;
    await it.machine.advance(60_000);
    expect([it.requests, it.machine.waiting]).toEqual([[], 0]);
  });
});

test('a quiz that is closed, and one that is only about to be told, is no news', async () => {
  const it = world();
  it.service.openQuiz(QUIZ);
  await it.machine.advance(20_000);
  const { viewer, told } = enter(it);
  await it.machine.advance(5_000);
  expect([viewer.quiz, told]).toEqual([null, []]);
  const looks = it.requests.filter((one) => one.includes('/streams/')).length;
  await it.machine.advance(60_000);
  // One with the token, and else as often as ever.
  expect([looks, it.requests.filter((one) => one.includes('/streams/')).length]).toEqual([2, 6]);
});
