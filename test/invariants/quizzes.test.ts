import { afterEach, describe, expect, test } from 'bun:test';
import { type ManualClock, START_MS, type TestViewer } from '../support/harness/harness.ts';

import {
  answer,
  claim,
  close,
  eventsBetween,
  newDirectory,
  requestWinners,
  resultsOf,
  start,
  stop,
  stopAll,
} from '../support/invariants/invariant-steps.ts';

// Each invariant of SPEC I, with the guard it stands on. The comment above a test names the line to
// take out to see the test go red; `npm run guards` does that for all of them, in a copy.

afterEach(stopAll);

describe('I-3: an acknowledged answer counts once, a refused one never', () => {
  // Remove `quiz.state === 'open' && ` in server/domains/quizzes/quiz-rules.ts.
  test('[I-3] [Q-17] an answer in time that meets a counted quiz is refused', async () => {
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
    await close(harness, quiz);
    released.resolve();
    const { status } = await inTime;
    const counts = await resultsOf(harness, viewer, from);
    expect({ status, count: counts.Jupiter?.count }).toEqual({ status: 409, count: 0 });
  });

  // Remove ` && fresh.get(key) === answer` in server/domains/quizzes/answers-sql.ts.
  test('[I-3] [Q-13] [Q-14] answers of one seat that come together count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const tabs = await Promise.all([1, 2, 3, 4].map(() => harness.viewer(streamId, 'one person')));
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const choices = ['Jupiter', 'Mars', 'Jupiter', 'Venus', 'Mars', 'Jupiter'];
    const tries = tabs.flatMap((tab) => choices.map((choice) => ({ tab, choice })));
    const told = await Promise.all(
      tries.map(async ({ tab, choice }) => ({
        choice,
        status: (await answer(tab, quiz, choice)).status,
      })),
    );
    const acknowledged = new Set(
      told.filter(({ status }) => status === 204).map(({ choice }) => choice),
    );
    expect(acknowledged.size).toBe(1);
    expect(told.filter(({ status }) => status !== 204 && status !== 409)).toEqual([]);
    await close(harness, quiz);
    const counts = await resultsOf(harness, tabs[0] as TestViewer, from);
    const counted = Object.entries(counts).filter(([, { count }]) => count > 0);
    expect(counted).toEqual([[[...acknowledged][0] as string, { count: 1, percentage: 100 }]]);
  });

  // Remove the `if` that compares with `answer.recordedChoice` in server/domains/quizzes/quiz-rules.ts.
  test('[I-3] [Q-14] the first answer of a seat stands', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(409);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    await close(harness, quiz);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    const counts = await resultsOf(harness, viewer, from);
    expect([counts.Mars?.count, counts.Jupiter?.count]).toEqual([1, 0]);
  });
});

describe('I-4: results and winners are published once', () => {
  // Remove `state = 'open' and ` of the quizzes in `lookForWork` of server/realtime/feed/sealing-sql.ts.
  test('[I-4] [Q-19] [R-8] a quiz has its results once, also when a restart carries it out', async () => {
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

  // Remove `state = 'open' and ` of the rounds in `lookForWork` of server/realtime/feed/sealing-sql.ts.
  test('[I-4] [W-5] a round has its count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    expect((await requestWinners(harness, streamId)).status).toBe(201);
    expect((await claim(viewer)).status).toBe(204);
    await harness.advance(12);
    const events = await eventsBetween(harness, viewer, from, harness.interval() - 1);
    const counts = events.filter(({ type }) => type === 'quiz-winners');
    expect(counts.map(({ data }) => data)).toEqual([{ count: 1 }]);
  });

  // Remove `if (quiz.state === 'closed') ` in `revealQuiz` and `if (affected === 1) ` in `reveal` of
  // server/domains/quizzes/quizzes-sql.ts: either alone is enough to keep the other's promise.
  test('[I-4] [P-20] a quiz that is revealed again, and twice at once, has its results once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    await close(harness, quiz);
    const reveal = () => harness.studio('POST', `/quizzes/${quiz.id}/reveal`);
    const both = await Promise.all([reveal(), reveal()]);
    expect([...both, await reveal()].map(({ status }) => status)).toEqual([200, 200, 200]);
    await harness.advance(2);
    await resultsOf(harness, viewer, from);
  });
});
