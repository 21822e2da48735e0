import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { QuizResults } from '../../protocol/quizzes.ts';
import type { StreamDetail } from '../../protocol/streams.ts';
import {
  expectMembers,
  expectNoContent,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { ofType } from '../support/conformance/feed-viewer.ts';
import { answer, openShow, playToResults } from '../support/conformance/quiz-show.ts';
import {
  expectJson,
  type Harness,
  type ManualClock,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

const MEMBERS = ['id', 'producer', 'dash_url', 'hls_url', 'status'];

describe.each(['embedded', 'shared'] as const)('the open quiz on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends });
  }, 30_000);
  afterAll(() => service.close());

  const path = (streamId: string) => `/api/v1/streams/${streamId}/`;
  const detail = async (viewer: TestViewer) =>
    expectJson<StreamDetail>(await viewer.get(path(viewer.streamId)), 200);
  const readInterval = async (viewer: TestViewer) => (await detail(viewer)).quiz_interval;
  /** Advances the clock without sealing. */
  const stall = (intervals: number) => {
    const startMs = intervalStartMs(service.interval() + intervals);
    (service.clock as ManualClock).set(startMs);
  };

  test('[S-17] [F-29] [Q-7] a viewer who joins during a quiz gets its interval and can answer', async () => {
    const { stream, quiz, viewer: earlyViewer } = await openShow(service, 1, { duration: 20_000 });
    await expectNoContent(await answer(earlyViewer, quiz, 'Mars'));
    await service.advance(30);
    const newcomer = await service.viewer(stream);
    const stillOpen = await detail(newcomer);
    expectMembers(stillOpen, [...MEMBERS, 'quiz_interval', 'winner_code', 'product', 'chat']);
    const events = await service.events(newcomer, stillOpen.quiz_interval as number);
    const quizEvents = events.filter(({ type }) => type === 'quiz');
    expect(quizEvents).toMatchObject([
      { data: { id: quiz.id, closeInterval: quiz.closeInterval } },
    ]);
    expect(quizEvents[0]?.data).not.toHaveProperty('answer');
    await expectNoContent(await answer(newcomer, quiz));
    const played = await playToResults(service, newcomer, quiz);
    const [results] = ofType<QuizResults>(played, 'quiz-results');
    expect(results?.data.choices.Jupiter).toEqual({ count: 1, percentage: 50 });
  });

  test('[S-17] [F-14] quiz_interval is set from the sealing of the quiz event until answers stop', async () => {
    const stream = await service.createStream();
    const viewer = await service.viewer(stream);
    expect(await readInterval(viewer)).toBeNull();
    await service.studio('POST', `/streams/${stream}/quizzes`, {
      question: 'A draft?',
      choices: ['yes', 'no'],
      answer: 'yes',
      duration: 10_000,
    });
    expect(await readInterval(viewer)).toBeNull();
    const quiz = await service.publishQuiz(stream, { duration: 2_000 });
    // Sealing is delayed: the event goes into the newest ended interval.
    stall(3);
    expect(await readInterval(viewer)).toBeNull();
    await service.advance(1);
    const quizInterval = service.interval() - 1;
    expect(await readInterval(viewer)).toBe(quizInterval);
    expect(await service.events(viewer, quizInterval)).toMatchObject([{ data: { id: quiz.id } }]);
    await service.advance(quiz.closeInterval - 1 - service.interval());
    expect(await readInterval(viewer)).toBe(quizInterval);
    // Answers are rejected now; the database has the quiz open until the close is sealed.
    stall(1);
    expect(await readInterval(viewer)).toBeNull();
    await service.advance(2);
    expect(await readInterval(viewer)).toBeNull();
  });

  test('[S-17] [Q-23] with several open quizzes, quiz_interval is that of the one published last', async () => {
    const { quiz: long, viewer } = await openShow(service, 1, { duration: 20_000 });
    const first = service.interval();
    await service.advance(4);
    const short = await service.publishQuiz(viewer.streamId, { duration: 2_000 });
    expect(await readInterval(viewer)).toBe(first);
    const second = service.interval();
    await service.advance(1);
    expect(await readInterval(viewer)).toBe(second);
    await service.advance(short.closeInterval - service.interval() + 1);
    expect(await readInterval(viewer)).toBe(first);
    await service.advance(long.closeInterval - service.interval() + 1);
    expect(await readInterval(viewer)).toBeNull();
  });

  test('[S-17] [S-13] quiz_interval is absent without a viewer token of the stream', async () => {
    const { stream } = await openShow(service, 0, { duration: 20_000 });
    await service.advance(1);
    const headers = { Authorization: `Token ${service.account.token}` };
    for (const init of [{}, { headers }]) {
      const answered = await fetch(service.url + path(stream), init);
      expectMembers(await expectJson<StreamDetail>(answered, 200), MEMBERS);
    }
    const other = await service.viewer(await service.createStream());
    expect(await readInterval(other)).toBeNull();
    await expectUnauthorized(await other.get(path(stream)), 'Token');
  });
});
