import { describe, expect, test } from 'bun:test';
import type { Quiz, QuizResults } from '../../protocol/quizzes.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import {
  expectNoContent,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { eventsFrom, ofType } from '../support/conformance/feed-viewer.ts';
import {
  answer,
  openShow,
  playToResults,
  type ReadQuiz,
  readQuiz,
} from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  expectJson,
  manualClock,
  type PublishedQuiz,
  QUIZ,
  START_MS,
  type TestViewer,
} from '../support/harness/harness.ts';

const clock = manualClock(START_MS);
const harness = await serviceOfFile({ clock });

/** Plays a quiz to its end. @returns its `quiz-results` events */
const resultsOf = async (viewer: TestViewer, quiz: PublishedQuiz) =>
  ofType<QuizResults>(await playToResults(harness, viewer, quiz), 'quiz-results');

describe('making and publishing', () => {
  test('[Q-1] /api/v1 has no route that creates or reads a quiz', async () => {
    const routes = Object.values(viewerApi).filter(({ path }) => path.includes('quiz'));
    expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'DELETE /api/v1/quizzes/{stream_id}/winner-contact',
      'GET /api/v1/quizzes/{stream_id}/winner-contact',
      'POST /api/v1/quizzes/{quiz_id}/answer',
      'POST /api/v1/quizzes/{stream_id}/record-winner',
      'POST /api/v1/quizzes/{stream_id}/winner-contact',
    ]);
    const { quiz, viewer } = await openShow(harness, 1);
    for (const path of ['/quizzes', `/quizzes/${quiz.id}`, `/quizzes/${quiz.id}/results`]) {
      await expectProblem(await viewer.get(`/api/v1${path}`), 404);
      await expectProblem(await viewer.post(`/api/v1${path}`, QUIZ), 404);
    }
    await expectProblem(await viewer.get(`/api/v1/quizzes/${quiz.id}/answer`), 405);
    await expectUnauthorized(await viewer.get(`/studio/v1/quizzes/${quiz.id}`), 'Token');
  });

  test('[Q-2] [Q-16] [Q-18] a quiz goes through draft, open, closed and revealed and never back', async () => {
    const stream = await harness.createStream();
    const made = await harness.studio('POST', `/streams/${stream}/quizzes`, {
      ...QUIZ,
      reveal: 'manual',
    });
    const draft = await expectJson<ReadQuiz>(made, 201);
    expect(draft.state).toBe('draft');
    const call = (path: string, body?: unknown, method = 'POST') =>
      harness.studio(method, `/quizzes/${draft.id}${path}`, body);
    await expectProblem(await call('/reveal'), 409);
    const open = await expectJson<ReadQuiz>(await call('/publish'), 200);
    expect(open.state).toBe('open');
    for (const refused of [call('/publish'), call('/reveal'), call('', undefined, 'DELETE')]) {
      await expectProblem(await refused, 409);
    }
    await expectProblem(await call('', { duration: 5_000 }, 'PATCH'), 409);
    // The quiz is open until closeInterval is sealed.
    await harness.advance(open.closeInterval - harness.interval());
    expect((await readQuiz(harness, draft.id)).state).toBe('open');
    await harness.advance(1);
    expect((await readQuiz(harness, draft.id)).state).toBe('closed');
    await harness.advance(8);
    expect((await readQuiz(harness, draft.id)).state).toBe('closed');
    await expectProblem(await call('/publish'), 409);
    expect((await expectJson<ReadQuiz>(await call('/reveal'), 200)).state).toBe('revealed');
    await expectProblem(await call('/publish'), 409);
    expect((await readQuiz(harness, draft.id)).state).toBe('revealed');
  });

  const text = (length: number) => 'x'.repeat(length);
  const GOOD: Record<string, unknown>[] = [
    { question: text(500) },
    { question: '?' },
    { choices: ['a', 'b'], answer: 'b' },
    { choices: Array.from({ length: 10 }, (_, i) => `${i}`), answer: '9' },
    { choices: [text(200), 'constructor'], answer: 'constructor' },
    { choices: ['a', 'A', ' a', 'a '], answer: 'a ' },
    { duration: 1_000 },
    { duration: 600_000 },
    { reveal: 'auto' },
  ];
  const BAD: [string, Record<string, unknown>][] = [
    ['question', { question: text(501) }],
    ['question', { question: '' }],
    ['choices', { choices: ['Jupiter'] }],
    ['choices', { choices: Array.from({ length: 11 }, (_, i) => `${i}`), answer: '1' }],
    ['choices', { choices: ['a', 'a'], answer: 'a' }],
    ['choices', { choices: ['a', ''], answer: 'a' }],
    ['choices', { choices: [text(201), 'a'], answer: 'a' }],
    ['choices', { choices: ['__proto__', 'a'], answer: 'a' }],
    ['choices', { choices: { a: 1, b: 2 }, answer: 'a' }],
    ['answer', { answer: 'Pluto' }],
    ['answer', { answer: 'jupiter' }],
    ['answer', { answer: 1 }],
    ['duration', { duration: 999 }],
    ['duration', { duration: 600_001 }],
    ['duration', { duration: 1_000.5 }],
    ['reveal', { reveal: 'later' }],
  ];
  test('[Q-3] a quiz accepts values at its limits', async () => {
    const stream = await harness.createStream();
    for (const fields of GOOD) {
      const made = harness.studio('POST', `/streams/${stream}/quizzes`, { ...QUIZ, ...fields });
      expect(await expectJson<Record<string, unknown>>(await made, 201)).toMatchObject(fields);
    }
  });

  test.each(BAD)('[Q-3] a quiz with a wrong %s returns 400: %j', async (field, fields) => {
    const stream = await harness.createStream();
    const made = await harness.studio('POST', `/streams/${stream}/quizzes`, { ...QUIZ, ...fields });
    expect((await expectProblem(made, 400)).detail).toContain(field);
    const { results } = await expectJson<{ results: unknown[] }>(
      await harness.studio('GET', `/streams/${stream}/quizzes`),
      200,
    );
    expect(results).toEqual([]);
  });

  test.each([
    [0, 1_000, 0],
    [1, 1_000, 0],
    [249, 1_001, 0],
    [0, 1_000, 60_000],
    [100, 12_345, 1],
  ])(
    '[Q-4] a quiz published %p ms into an interval, %p ms long, with %p ms allowance closes at the next whole interval',
    async (offsetMs, duration, latencyAllowance) => {
      const stream = await harness.createStream({ latencyAllowance });
      await harness.advance(1);
      clock.set(clock.nowMs() + offsetMs);
      const quiz = await harness.publishQuiz(stream, { duration });
      expect(quiz.created).toBe(clock.nowMs());
      const closeMs = clock.nowMs() + duration + latencyAllowance;
      expect(quiz.closeInterval).toBe(Math.ceil(closeMs / 250));
      await harness.studio('PATCH', `/streams/${stream}`, { latencyAllowance: 30_000 });
      await harness.advance(2);
      expect((await readQuiz(harness, quiz.id)).closeInterval).toBe(quiz.closeInterval);
    },
  );

  test('[Q-5] [Q-19] publishing a quiz emits one quiz event, and its close one quiz-results', async () => {
    const { viewer, quiz } = await openShow(harness, 1);
    const events = await playToResults(harness, viewer, quiz);
    expect(ofType<Quiz>(events, 'quiz').map(({ data }) => data.id)).toEqual([quiz.id]);
    const results = ofType<QuizResults>(events, 'quiz-results');
    expect(results.map(({ data }) => data.id)).toEqual([quiz.id]);
    expect(results[0]?.interval).toBeGreaterThanOrEqual(quiz.closeInterval);
  });

  test('[Q-6] publishing works in CREATED and STREAMING; in ENDED, or a second time, it returns 409', async () => {
    const stream = await harness.createStream();
    const viewer = await harness.viewer(stream);
    const from = harness.interval();
    const created = await harness.publishQuiz(stream);
    await harness.studio('POST', `/streams/${stream}/start`);
    const streaming = await harness.publishQuiz(stream);
    const draft = await harness.studio('POST', `/streams/${stream}/quizzes`, QUIZ);
    const { id } = await expectJson<PublishedQuiz>(draft, 201);
    await harness.studio('POST', `/streams/${stream}/end`);
    await expectProblem(await harness.studio('POST', `/quizzes/${id}/publish`), 409);
    await expectProblem(await harness.studio('POST', `/quizzes/${created.id}/publish`), 409);
    await harness.advance(2);
    const events = await eventsFrom(harness, viewer, from);
    const ids = ofType<Quiz>(events, 'quiz').map(({ data }) => data.id);
    expect(ids).toEqual([created.id, streaming.id]);
  });
});

describe('results', () => {
  test('[Q-18] results are revealed at the close with reveal auto, and on request with reveal manual', async () => {
    const auto = await openShow(harness, 1);
    expect(await resultsOf(auto.viewer, auto.quiz)).toHaveLength(1);
    expect((await readQuiz(harness, auto.quiz.id)).state).toBe('revealed');
    const manual = await openShow(harness, 1, { reveal: 'manual' });
    expect(await resultsOf(manual.viewer, manual.quiz)).toEqual([]);
    const from = harness.interval();
    for (let i = 0; i < 3; i++) {
      await expectJson(await harness.studio('POST', `/quizzes/${manual.quiz.id}/reveal`), 200);
    }
    await harness.advance(2);
    const events = await eventsFrom(harness, manual.viewer, from);
    expect(ofType(events, 'quiz-results')).toHaveLength(1);
  });

  test('[Q-20] [Q-21] counts are the recorded answers, and percentages add up to 100', async () => {
    const { viewer, others, quiz } = await openShow(harness, 6);
    const [jupiter, ...rest] = [viewer, ...others];
    await expectNoContent(await answer(jupiter, quiz, 'Jupiter'));
    for (const [i, other] of rest.entries()) {
      await expectNoContent(await answer(other, quiz, i % 2 ? 'Mars' : 'Venus'));
    }
    const [result] = await resultsOf(viewer, quiz);
    // 1, 2 and 3 of 6: 16.67, 33.33 and 50; the largest remainder takes the last percent.
    expect(result?.data.choices).toEqual({
      Mars: { count: 2, percentage: 33 },
      Jupiter: { count: 1, percentage: 17 },
      Venus: { count: 3, percentage: 50 },
    });
  });

  test('[Q-21] equal remainders round up the earlier choice, and without answers all percentages are 0', async () => {
    const three = await openShow(harness, 3);
    for (const [i, each] of [three.viewer, ...three.others].entries()) {
      await expectNoContent(await answer(each, three.quiz, QUIZ.choices[i]));
    }
    const tied = await resultsOf(three.viewer, three.quiz);
    const percentages = Object.values(tied[0]?.data.choices ?? {}).map((c) => c.percentage);
    expect(percentages).toEqual([34, 33, 33]);
    const silent = await openShow(harness, 1);
    const none = await resultsOf(silent.viewer, silent.quiz);
    expect(Object.values(none[0]?.data.choices ?? {})).toEqual(
      Array.from({ length: 3 }, () => ({ count: 0, percentage: 0 })),
    );
  });

  test('[Q-22] [I-6] no viewer response discloses the answer or counts before the reveal', async () => {
    const { viewer, others, quiz } = await openShow(harness, 2, {
      choices: ['right', 'wrong'],
      answer: 'right',
      reveal: 'manual',
    });
    const from = harness.interval();
    const [other] = others as [TestViewer];
    const right = await answer(viewer, quiz, 'right');
    const wrong = await answer(other, quiz, 'wrong');
    // A right and a wrong answer get identical responses, headers included.
    const comparable = (response: Response) =>
      [...response.headers]
        .filter(([name]) => name !== 'date')
        .concat([['', `${response.status}`]]);
    expect(comparable(right)).toEqual(comparable(wrong));
    await harness.advance(quiz.closeInterval + 4 - harness.interval());
    for (let interval = from; interval < harness.interval(); interval++) {
      for (const { type, data } of await harness.events(viewer, interval)) {
        expect(type).not.toBe('quiz-results');
        if (type !== 'quiz') continue;
        expect(data).not.toHaveProperty('answer');
        for (const choice of Object.values((data as Quiz).choices)) {
          expect(choice).toEqual({ count: 0, percentage: 0 });
        }
      }
    }
    // A winner claim would disclose the answer too.
    await expectProblem(
      await harness.studio('POST', `/streams/${viewer.streamId}/request-winners`),
      409,
    );
    for (const each of [viewer, other]) {
      await expectProblem(await each.post(`/api/v1/quizzes/${each.streamId}/record-winner`), 409);
    }
  });

  test('[Q-23] several quizzes are counted separately and continue after the stream has ended', async () => {
    const { stream, viewer, quiz } = await openShow(harness, 1);
    const longer = await harness.publishQuiz(stream, { duration: 3_000 });
    await expectNoContent(await answer(viewer, quiz, 'Mars'));
    await expectJson(await harness.studio('POST', `/streams/${stream}/end`), 200);
    await harness.advance(2);
    await expectNoContent(await answer(viewer, longer, 'Venus'));
    const results = await resultsOf(viewer, longer);
    expect(results.map(({ data }) => data.id)).toEqual([quiz.id, longer.id]);
    const counts = results.map(({ data }) => Object.values(data.choices).map((c) => c.count));
    expect(counts).toEqual([
      [1, 0, 0],
      [0, 0, 1],
    ]);
  });

  test('[Q-16] every answer acknowledged before the close is in the counts', async () => {
    const { viewer, others, quiz } = await openShow(harness, 40);
    const answers = [viewer, ...others].map((each) => answer(each, quiz));
    const sealed = (async () => {
      await Bun.sleep(0);
      await harness.advance(quiz.closeInterval + 1 - harness.interval());
    })();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    await sealed;
    const acceptedCount = statuses.filter((status) => status === 204).length;
    expect(statuses.every((status) => status === 204 || status === 409)).toBe(true);
    expect((await readQuiz(harness, quiz.id)).counts?.[QUIZ.answer]?.count).toBe(acceptedCount);
  });
});
