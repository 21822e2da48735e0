import { afterEach, describe, expect, test } from 'bun:test';
import { eventsFrom } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { type ManualClock, START_MS, type TestViewer } from '../support/harness/harness.ts';
import {
  claimWin,
  closeQuiz,
  newDirectory,
  requestWinners,
  resultsOf,
  start,
  stop,
  stopAll,
} from '../support/invariants/invariant-steps.ts';

// Tests of the invariants in SPEC I. Each proves a guard in the code; `test/guards.ts` lists them, and
// `npm run guards` removes each guard from a copy and checks that its test fails.

afterEach(stopAll);

describe('I-3: an acknowledged answer counts once, a refused one never', () => {
  test('[I-3] [Q-17] an answer that arrived in time is refused once its quiz is counted', async () => {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const harness = await start({
      store: (store) => ({
        ...store,
        recordAnswers: async (answers) => {
          arrived.resolve();
          await released.promise;
          return store.recordAnswers(answers);
        },
      }),
    });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const inTime = answer(viewer, quiz, 'Jupiter');
    await arrived.promise;
    await closeQuiz(harness, quiz);
    released.resolve();
    const { status } = await inTime;
    const counts = await resultsOf(harness, viewer, from);
    expect({ status, count: counts.Jupiter?.count }).toEqual({ status: 409, count: 0 });
  });

  test('[I-3] [Q-13] [Q-14] concurrent answers of one seat count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const tabs = await Promise.all([1, 2, 3, 4].map(() => harness.viewer(streamId, 'one person')));
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const choices = ['Jupiter', 'Mars', 'Jupiter', 'Venus', 'Mars', 'Jupiter'];
    const attempts = tabs.flatMap((tab) => choices.map((choice) => ({ tab, choice })));
    const results = await Promise.all(
      attempts.map(async ({ tab, choice }) => ({
        choice,
        status: (await answer(tab, quiz, choice)).status,
      })),
    );
    const acknowledged = new Set(
      results.filter(({ status }) => status === 204).map(({ choice }) => choice),
    );
    expect(acknowledged.size).toBe(1);
    expect(results.filter(({ status }) => status !== 204 && status !== 409)).toEqual([]);
    await closeQuiz(harness, quiz);
    const counts = await resultsOf(harness, tabs[0] as TestViewer, from);
    const counted = Object.entries(counts).filter(([, { count }]) => count > 0);
    expect(counted).toEqual([[[...acknowledged][0] as string, { count: 1, percentage: 100 }]]);
  });

  test('[I-3] [Q-14] the first answer of a seat counts', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(409);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    await closeQuiz(harness, quiz);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    const counts = await resultsOf(harness, viewer, from);
    expect([counts.Mars?.count, counts.Jupiter?.count]).toEqual([1, 0]);
  });
});

describe('I-4: results and winner counts are published once', () => {
  test('[I-4] [Q-19] [R-8] a quiz publishes its results once, also when it closes after a restart', async () => {
    const directory = newDirectory();
    const first = await start({ directory });
    const streamId = await first.createStream();
    const from = first.interval();
    const quiz = await first.publishQuiz(streamId);
    await first.advance(2);
    await stop(first);
    const second = await start({ directory });
    (second.clock as ManualClock).set(START_MS + 60_000);
    await second.advance(8);
    const viewer = await second.viewer(streamId);
    expect(quiz.closeInterval).toBeLessThan(second.interval());
    await resultsOf(second, viewer, from);
  });

  test('[I-4] [W-5] a winners round publishes its count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    expect((await requestWinners(harness, streamId)).status).toBe(201);
    expect((await claimWin(viewer)).status).toBe(204);
    await harness.advance(12);
    const events = await eventsFrom(harness, viewer, from);
    const counts = events.filter(({ type }) => type === 'quiz-winners');
    expect(counts.map(({ data }) => data)).toEqual([{ count: 1 }]);
  });

  test('[I-4] [P-20] a quiz publishes its results once when it is revealed twice concurrently and again', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    await closeQuiz(harness, quiz);
    const reveal = () => harness.studio('POST', `/quizzes/${quiz.id}/reveal`);
    const both = await Promise.all([reveal(), reveal()]);
    expect([...both, await reveal()].map(({ status }) => status)).toEqual([200, 200, 200]);
    await harness.advance(2);
    await resultsOf(harness, viewer, from);
  });
});
