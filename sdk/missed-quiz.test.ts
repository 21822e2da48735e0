import { afterEach, describe, expect, test } from 'bun:test';
import {
  createJoinFixture,
  createStorage,
  expectSilence,
  type JoinFixture,
  leaveAll,
  QUIZ,
} from '../test/support/sdk/join-fixture.ts';
import type { JoinOptions } from './join-options.ts';
import { pictureOf } from './pictures.ts';
import type { Viewer } from './viewer.ts';

afterEach(leaveAll);

const LONG = { ...QUIZ, durationMs: 60_000 };

/** A viewer who joins; `received` has the ids of its `quiz` events. */
function joinViewer({ join }: JoinFixture, options: Partial<JoinOptions> = {}) {
  const viewer = join(options);
  const received: string[] = [];
  viewer.on('quiz', ({ id }) => received.push(id));
  return { viewer, received };
}

const isWinning = ({ snapshot }: Viewer) => snapshot.winners.isWinning;

describe.each(['stream', 'poll'] as const)('with the feed by %s', (transport) => {
  test('a viewer who joins during a quiz sees it, gets its event once, and can answer', async () => {
    const fixture = createJoinFixture();
    const quiz = fixture.service.openQuiz(LONG);
    await fixture.machine.advance(30_000);
    const { viewer, received } = joinViewer(fixture, { transport });
    await fixture.machine.advance(1_500);
    expect(viewer.quiz).toMatchObject({ quiz, choice: null, results: null });
    expect(viewer.remainingMs()).toBeGreaterThan(28_000);
    expect(viewer.remainingMs()).toBeLessThan(29_000);
    const answer = viewer.answer('Jupiter');
    await fixture.machine.advance(1_000);
    expect(await answer).toBe('counted');
    expect([...fixture.service.answersTo(quiz.id)]).toEqual([['ada', 'Jupiter']]);
    await fixture.machine.advance(30_000);
    expect(viewer.quiz).toMatchObject({ outcome: 'counted', results: { answer: 'Jupiter' } });
    expect(received).toEqual([quiz.id]);
    // There may have been quizzes before.
    expect(isWinning(viewer)).toBeNull();
  });

  test('the event of a quiz is emitted once, for viewers who join at any moment around it', async () => {
    const { service, ...fixture } = createJoinFixture();
    const viewers: ReturnType<typeof joinViewer>[] = [];
    let quiz = '';
    for (let ms = -2_000; ms <= 2_000; ms += 25) {
      if (ms === 0) quiz = service.openQuiz(LONG).id;
      viewers.push(joinViewer({ service, ...fixture }, { transport, viewerId: `${ms}` }));
      await fixture.machine.advance(25);
    }
    await fixture.machine.advance(5_000);
    for (const { viewer, received } of viewers) {
      expect(received).toEqual([quiz]);
      expect(viewer.quiz?.quiz.id).toBe(quiz);
    }
  });

  test('a viewer who missed a quiz in an outage longer than `catchUpMs` sees it afterwards', async () => {
    const fixture = createJoinFixture();
    const { viewer, received } = joinViewer(fixture, { transport, catchUpMs: 5_000 });
    await fixture.machine.advance(3_000);
    const gaps: object[] = [];
    viewer.on('gap', (gap) => gaps.push(gap));
    fixture.service.breakStreams();
    const endFault = fixture.service.fail({ result: 'cut' });
    await fixture.machine.advance(10_000);
    const quiz = fixture.service.openQuiz(LONG);
    await fixture.machine.advance(20_000);
    endFault();
    await fixture.machine.advance(20_000);
    expect(gaps).toHaveLength(1);
    expect(viewer.quiz?.quiz.id).toBe(quiz.id);
    expect(received).toEqual([quiz.id]);
  });
});

describe('a viewer who joins during a quiz', () => {
  test.each([2_000, 5_000])(
    'with a picture %d ms behind sees it with its frame, and gets its event once',
    async (latencyMs) => {
      const fixture = createJoinFixture({}, latencyMs);
      const latePicture = () => pictureOf(() => fixture.machine.nowMs - latencyMs);
      const quiz = fixture.service.openQuiz(LONG);
      await fixture.machine.advance(1_000);
      // This viewer's picture has not reached the quiz yet.
      const early = joinViewer(fixture);
      early.viewer.follow(latePicture());
      await fixture.machine.advance(latencyMs - 1_500);
      expect([early.viewer.quiz, early.received]).toEqual([null, []]);
      await fixture.machine.advance(1_500);
      expect(early.viewer.quiz?.quiz.id).toBe(quiz.id);
      await fixture.machine.advance(10_000);
      // This viewer's picture is past it.
      const after = joinViewer(fixture, { viewerId: 'bob' });
      after.viewer.follow(latePicture());
      await fixture.machine.advance(2_000);
      expect(after.viewer.quiz?.quiz.id).toBe(quiz.id);
      const answers = [early.viewer.answer('Jupiter'), after.viewer.answer('Jupiter')];
      await fixture.machine.advance(latencyMs + 60_000);
      expect(await Promise.all(answers)).toEqual(['counted', 'counted']);
      expect([early.received, after.received]).toEqual([[quiz.id], [quiz.id]]);
    },
  );

  test('sees it when a picture that loads slowly appears', async () => {
    const fixture = createJoinFixture();
    const quiz = fixture.service.openQuiz(LONG);
    await fixture.machine.advance(10_000);
    const { viewer, received } = joinViewer(fixture);
    const loadedMs = fixture.machine.nowMs + 3_000;
    viewer.follow(
      pictureOf(() => (fixture.machine.nowMs < loadedMs ? null : fixture.machine.nowMs - 2_000)),
    );
    await fixture.machine.advance(2_500);
    expect([viewer.quiz, received]).toEqual([null, []]);
    await fixture.machine.advance(1_500);
    expect([viewer.quiz?.quiz.id, received]).toEqual([quiz.id, [quiz.id]]);
  });

  test('sees it when reading the stream succeeds after failures', async () => {
    const fixture = createJoinFixture();
    const quiz = fixture.service.openQuiz(LONG);
    await fixture.machine.advance(10_000);
    const endFault = fixture.service.fail({
      result: 503,
      matches: ({ path }) => path.includes('/streams/'),
    });
    const { viewer } = joinViewer(fixture);
    await fixture.machine.advance(5_000);
    expect(viewer.quiz).toBeNull();
    endFault();
    await fixture.machine.advance(10_000);
    expect(viewer.quiz?.quiz.id).toBe(quiz.id);
  });

  test.each([2_000, 20_000])(
    'again after %d ms, by a reload, still has the answer, and gets no second event',
    async (absentMs) => {
      const fixture = createJoinFixture();
      const options = { storage: createStorage() };
      const before = joinViewer(fixture, options);
      await fixture.machine.advance(2_000);
      const quiz = fixture.service.openQuiz(LONG);
      await fixture.machine.advance(1_000);
      const answer = before.viewer.answer('Mars');
      await fixture.machine.advance(1_000);
      expect(await answer).toBe('counted');
      before.viewer.leave();
      await fixture.machine.advance(absentMs);
      const after = joinViewer(fixture, options);
      await fixture.machine.advance(3_000);
      const expected = { quiz: { id: quiz.id }, choice: 'Mars', outcome: 'counted' };
      expect(after.viewer.quiz).toMatchObject(expected);
      expect(after.received).toEqual([]);
    },
  );

  test('after answering on another device may still be winning, and cannot answer again', async () => {
    const fixture = createJoinFixture();
    fixture.service.setStatus('CREATED');
    const phone = joinViewer(fixture).viewer;
    await fixture.machine.advance(2_000);
    const quiz = fixture.service.openQuiz(LONG);
    await fixture.machine.advance(1_000);
    const answer = phone.answer('Jupiter');
    await fixture.machine.advance(6_000);
    expect(await answer).toBe('counted');
    const [silentDevice, otherDevice] = [joinViewer(fixture).viewer, joinViewer(fixture).viewer];
    await fixture.machine.advance(2_000);
    const again = otherDevice.answer('Mars');
    await fixture.machine.advance(1_000);
    expect(await again).toBe('other-answer');
    await fixture.machine.advance(60_000);
    expect([isWinning(phone), isWinning(silentDevice)]).toEqual([true, null]);
    expect([...fixture.service.answersTo(quiz.id).values()]).toEqual(['Jupiter']);
  });

  test('and leaves while the quiz is requested sends nothing more', async () => {
    const fixture = createJoinFixture();
    fixture.service.openQuiz(LONG);
    await fixture.machine.advance(10_000);
    fixture.service.fail({ result: 503, matches: ({ path }) => path.includes('/streams/') });
    const { viewer } = joinViewer(fixture);
    await fixture.machine.advance(3_000);
    viewer.leave();
    await expectSilence(fixture);
  });
});

test('a quiz that closed before the viewer joined is not shown', async () => {
  const fixture = createJoinFixture();
  fixture.service.openQuiz(QUIZ);
  await fixture.machine.advance(20_000);
  const { viewer, received } = joinViewer(fixture);
  await fixture.machine.advance(5_000);
  expect([viewer.quiz, received]).toEqual([null, []]);
  const countStreamReads = () =>
    fixture.requests.filter((request) => request.includes('/streams/')).length;
  // The second one is with the token.
  expect(countStreamReads()).toBe(2);
  await fixture.machine.advance(60_000);
  expect(countStreamReads()).toBe(6);
});
