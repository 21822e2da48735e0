import { expect, test } from 'bun:test';
import {
  expectNoContent,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { answer, openShow, playToResults, readQuiz } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  expectJson,
  manualClock,
  type PublishedQuiz,
  QUIZ,
  START_MS,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

const clock = manualClock(START_MS);
const harness = await serviceOfFile({ clock });

test('[Q-7] an answer returns 204 without a body', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  await expectNoContent(await answer(viewer, quiz));
});

test.each(['streamId', 'choice', 'closeInterval'])(
  '[Q-8] an answer without %s returns 400',
  async (field) => {
    const { viewer, quiz } = await openShow(harness, 1);
    for (const value of [undefined, null, true, [], {}]) {
      const refused = await answer(viewer, quiz, QUIZ.answer, { [field]: value });
      expect((await expectProblem(refused, 400)).detail).toContain(field);
    }
    await expectNoContent(await answer(viewer, quiz));
  },
);

test('[Q-8] an answer whose streamId is not a uuid or whose closeInterval is not an integer returns 400', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  const close = quiz.closeInterval;
  const wrong = [
    { streamId: 'x' },
    { closeInterval: `${close}` },
    { closeInterval: close + 0.5 },
    { closeInterval: 2 ** 53 },
  ];
  for (const fields of wrong) {
    await expectProblem(await answer(viewer, quiz, QUIZ.answer, fields), 400);
  }
});

test('[Q-9] an answer with the streamId of another stream returns 401', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  const streamId = await harness.createStream();
  await expectUnauthorized(await answer(viewer, quiz, QUIZ.answer, { streamId }), 'Bearer');
  const upper = { streamId: viewer.streamId.toUpperCase() };
  await expectNoContent(await answer(viewer, quiz, QUIZ.answer, upper));
});

test('[Q-10] an answer to an unknown quiz, a draft or a quiz of another stream returns 404', async () => {
  const { stream, viewer, quiz } = await openShow(harness, 1);
  const other = await openShow(harness, 1);
  const made = await harness.studio('POST', `/streams/${stream}/quizzes`, QUIZ);
  const { id: draft } = await expectJson<PublishedQuiz>(made, 201);
  for (const id of [crypto.randomUUID(), 'x', stream, draft, other.quiz.id]) {
    const { closeInterval } = quiz;
    await expectProblem(await answer(viewer, { id, closeInterval }), 404);
  }
  // The earlier 404 for the draft is not cached: once published, the quiz accepts answers.
  const published = await harness.studio('POST', `/quizzes/${draft}/publish`);
  await expectNoContent(await answer(viewer, await expectJson<PublishedQuiz>(published, 200)));
});

test('[Q-11] an answer with an unknown choice or a different closeInterval returns 400', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  for (const choice of ['Pluto', 'jupiter', ' Jupiter', 'Jupiter ', '', '1', 'toString']) {
    expect((await expectProblem(await answer(viewer, quiz, choice), 400)).detail).toContain(
      'choice',
    );
  }
  for (const closeInterval of [quiz.closeInterval - 1, quiz.closeInterval + 1, 0, -1]) {
    const refused = await answer(viewer, quiz, QUIZ.answer, { closeInterval });
    expect((await expectProblem(refused, 400)).detail).toContain('closeInterval');
  }
  await expectNoContent(await answer(viewer, quiz));
});

test('[Q-12] a new answer is accepted up to the interval before closeInterval and rejected from closeInterval on', async () => {
  const { viewer, others, quiz } = await openShow(harness, 3);
  await harness.advance(quiz.closeInterval - 1 - harness.interval());
  clock.set(quiz.closeInterval * 250 - 1);
  await expectNoContent(await answer(viewer, quiz));
  // Nothing is sealed yet: only the clock decides.
  clock.set(quiz.closeInterval * 250);
  const [second, third] = others as [TestViewer, TestViewer];
  await expectProblem(await answer(second, quiz), 409);
  await harness.advance(2);
  await expectProblem(await answer(third, quiz), 409);
  expect((await readQuiz(harness, quiz.id)).counts?.[QUIZ.answer]?.count).toBe(1);
});

test('[Q-12] time fields sent by the client have no effect', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  await harness.advance(quiz.closeInterval - harness.interval());
  const early = { created: 0, at: 0, now: quiz.created, interval: quiz.closeInterval - 1 };
  await expectProblem(await answer(viewer, quiz, QUIZ.answer, early), 409);
});

test('[Q-13] a repeated identical answer returns 204 and counts once, also after the close', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  for (let i = 0; i < 3; i++) await expectNoContent(await answer(viewer, quiz));
  const concurrent = [answer(viewer, quiz), answer(viewer, quiz)];
  for (const response of await Promise.all(concurrent)) await expectNoContent(response);
  await playToResults(harness, viewer, quiz);
  await expectNoContent(await answer(viewer, quiz));
  expect((await readQuiz(harness, quiz.id)).counts?.[QUIZ.answer]?.count).toBe(1);
});

test('[Q-14] a different second answer returns 409 and the first one stands', async () => {
  const { viewer, quiz, stream } = await openShow(harness, 1, { choices: ['a', 'b'], answer: 'a' });
  await expectNoContent(await answer(viewer, quiz, 'a'));
  await expectProblem(await answer(viewer, quiz, 'b'), 409);
  await playToResults(harness, viewer, quiz);
  await expectProblem(await answer(viewer, quiz, 'b'), 409);
  const { counts } = await readQuiz(harness, quiz.id);
  expect([counts?.a?.count, counts?.b?.count]).toEqual([1, 0]);
  expect(stream).toBe(viewer.streamId);
});

test('[Q-14] exactly one of two simultaneous different answers of a viewer is accepted', async () => {
  const { stream, quiz } = await openShow(harness, 1);
  const tabs = [await harness.viewer(stream, 'ada'), await harness.viewer(stream, 'ada')];
  const answers = tabs.map((tab, i) => answer(tab, quiz, QUIZ.choices[i]));
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([204, 409]);
  await harness.advance(quiz.closeInterval + 1 - harness.interval());
  const counts = Object.values((await readQuiz(harness, quiz.id)).counts ?? {});
  expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(1);
});

test('[Q-15] an answer is checked in the order token, form, stream, quiz, choice, state', async () => {
  const { viewer, quiz } = await openShow(harness, 1);
  const elsewhere = await harness.createStream();
  await harness.advance(quiz.closeInterval - harness.interval());
  const unauthenticated: TestViewer = {
    ...viewer,
    post: (path, body) => fetch(harness.url + path, { method: 'POST', body: JSON.stringify(body) }),
  };
  const all = { streamId: elsewhere, choice: 'Pluto' };
  const unknown = { id: crypto.randomUUID(), closeInterval: 1 };
  await expectUnauthorized(await answer(unauthenticated, unknown, 7, all), 'Bearer');
  await expectProblem(await answer(viewer, unknown, 7, { ...all, choice: 7 }), 400);
  await expectUnauthorized(await answer(viewer, unknown, 'Pluto', all), 'Bearer');
  await expectProblem(await answer(viewer, unknown, 'Pluto'), 404);
  await expectProblem(await answer(viewer, quiz, 'Pluto'), 400);
  await expectProblem(await answer(viewer, quiz, QUIZ.answer, { closeInterval: 1 }), 400);
  await expectProblem(await answer(viewer, quiz), 409);
});

test('[Q-17] an answer that reaches the database after the close returns 409 and is not counted', async () => {
  // The request arrives in time, but the write reaches the database only after the close.
  const databaseDelay = Promise.withResolvers<void>();
  const slow = await startService({
    store: (store) => ({
      ...store,
      recordAnswers: async (answers) => {
        await databaseDelay.promise;
        return store.recordAnswers(answers);
      },
    }),
  });
  try {
    const stream = await slow.createStream();
    const viewer = await slow.viewer(stream);
    const quiz = await slow.publishQuiz(stream);
    const answering = answer(viewer, quiz);
    await slow.advance(1);
    await slow.advance(quiz.closeInterval + 1 - slow.interval());
    databaseDelay.resolve();
    await expectProblem(await answering, 409);
    const { counts } = await readQuiz(slow, quiz.id);
    expect(Object.values(counts ?? {}).every(({ count }) => count === 0)).toBe(true);
  } finally {
    databaseDelay.resolve();
    await slow.close();
  }
});
