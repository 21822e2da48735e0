import { describe, expect, test } from 'bun:test';
import {
  expectNoContent,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { eventsFrom, newAudience } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, type TestViewer } from '../support/harness/harness.ts';

const harness = await serviceOfFile();

interface Round {
  readonly id: string;
  readonly state: string;
  readonly quizzes: number;
  readonly count: number | null;
}

const show = (viewerCount: number) => newAudience(harness, viewerCount);
const request = (stream: string) => harness.studio('POST', `/streams/${stream}/request-winners`);
const openRound = async (stream: string) => expectJson<Round>(await request(stream), 201);
const claim = (viewer: TestViewer) =>
  viewer.post(`/api/v1/quizzes/${viewer.streamId}/record-winner`);
const readRounds = async (stream: string) => {
  const list = await harness.studio('GET', `/streams/${stream}/winners-rounds`);
  return (await expectJson<{ results: Round[] }>(list, 200)).results;
};
/** Publishes a quiz, sends right and wrong answers of these viewers, and advances to its results. */
async function playQuiz(stream: string, right: TestViewer[], wrong: TestViewer[] = []) {
  const quiz = await harness.publishQuiz(stream, { duration: 1_000 });
  for (const viewer of right) await expectNoContent(await answer(viewer, quiz));
  for (const viewer of wrong) await expectNoContent(await answer(viewer, quiz, 'Mars'));
  await harness.advance(quiz.closeInterval + 1 - harness.interval());
}
/** The winners events in the sealed intervals from one interval on. */
const winnersEvents = async (viewer: TestViewer, from: number) =>
  (await eventsFrom(harness, viewer, from)).filter(({ type }) => type.endsWith('quiz-winners'));

describe('requesting winners', () => {
  test('[W-1] requesting winners opens a round on the quizzes since the last request', async () => {
    const { stream, viewers } = await show(2);
    const [one, two] = viewers as [TestViewer, TestViewer];
    await playQuiz(stream, [one]);
    await playQuiz(stream, [one, two]);
    expect((await openRound(stream)).quizzes).toBe(2);
    // A quiz published later belongs to the next game, even while the round is open.
    const next = await harness.publishQuiz(stream, { duration: 1_000 });
    await expectNoContent(await claim(one));
    await expectUnauthorized(await claim(two), 'Bearer');
    await expectNoContent(await answer(two, next));
    await harness.advance(8);
    expect((await openRound(stream)).quizzes).toBe(1);
    await expectNoContent(await claim(two));
    await expectUnauthorized(await claim(one), 'Bearer');
    await harness.advance(8);
    expect((await openRound(stream)).quizzes).toBe(0);
    await harness.advance(8);
    expect((await readRounds(stream)).map(({ quizzes, count }) => [quizzes, count])).toEqual([
      [2, 1],
      [1, 1],
      [0, 0],
    ]);
  });

  test('[W-2] [W-5] a round emits one request-quiz-winners and one quiz-winners 4 intervals later', async () => {
    const { stream, viewers } = await show(3);
    for (let round = 0; round < 2; round++) {
      const from = harness.interval();
      await openRound(stream);
      await harness.advance(1);
      for (const viewer of viewers) await expectNoContent(await claim(viewer));
      await harness.advance(9);
      expect(await winnersEvents(viewers[0], from)).toEqual([
        { interval: from, type: 'request-quiz-winners', data: null },
        { interval: from + 4, type: 'quiz-winners', data: { count: 3 } },
      ]);
    }
  });

  test('[W-3] requesting winners returns 409 while a quiz of the game is open or not revealed, or a round is open', async () => {
    const { stream, viewers } = await show(1);
    const quiz = await harness.publishQuiz(stream, { duration: 1_000, reveal: 'manual' });
    await expectProblem(await request(stream), 409);
    await harness.advance(quiz.closeInterval + 1 - harness.interval());
    await expectProblem(await request(stream), 409);
    await expectJson(await harness.studio('POST', `/quizzes/${quiz.id}/reveal`), 200);
    await openRound(stream);
    await expectProblem(await request(stream), 409);
    await harness.advance(4);
    await expectProblem(await request(stream), 409);
    await harness.advance(1);
    await openRound(stream);
    await harness.advance(6);
    expect(await readRounds(stream)).toHaveLength(2);
    expect(viewers[0].streamId).toBe(stream);
  });

  test('[W-3] exactly one of two simultaneous winners requests succeeds', async () => {
    const { stream } = await show(1);
    const statuses = (await Promise.all([request(stream), request(stream)])).map((r) => r.status);
    expect(statuses.sort()).toEqual([201, 409]);
  });

  test('[W-4] a round is open from the request until quiz-winners is sealed', async () => {
    const { stream, viewers } = await show(6);
    const round = await openRound(stream);
    const [first, ...later] = viewers;
    await expectNoContent(await claim(first));
    for (const viewer of later.slice(0, 4)) {
      await harness.advance(1);
      expect((await readRounds(stream)).at(-1)).toMatchObject({ id: round.id, state: 'open' });
      await expectNoContent(await claim(viewer));
    }
    await harness.advance(1);
    await expectProblem(await claim(later[4] as TestViewer), 409);
    expect((await readRounds(stream)).at(-1)).toMatchObject({ state: 'closed', count: 5 });
  });
});

describe('record-winner', () => {
  test('[W-6] [G-23] record-winner returns 204 without a body, whatever body is sent, and counts the winner', async () => {
    const { stream, viewers } = await show(1);
    await playQuiz(stream, viewers);
    await openRound(stream);
    const path = `/api/v1/quizzes/${stream}/record-winner`;
    await expectNoContent(await viewers[0].post(path));
    await expectNoContent(await viewers[0].post(path, ['ignored']));
    await harness.advance(6);
    expect((await readRounds(stream)).at(-1)?.count).toBe(1);
  });

  test('[W-7] [W-8] record-winner accepts viewers who answered every quiz of the game right and returns 401 to others', async () => {
    const { stream, viewers } = await show(4);
    const [all, half, wrong, none] = viewers as [TestViewer, TestViewer, TestViewer, TestViewer];
    await playQuiz(stream, [all, half]);
    await playQuiz(stream, [all], [wrong]);
    await openRound(stream);
    await expectNoContent(await claim(all));
    for (const viewer of [half, wrong, none])
      await expectUnauthorized(await claim(viewer), 'Bearer');
    await harness.advance(6);
    expect((await readRounds(stream)).at(-1)?.count).toBe(1);
  });

  test('[W-7] in a game without quizzes every viewer qualifies', async () => {
    const { stream, viewers } = await show(3);
    await openRound(stream);
    for (const viewer of viewers) await expectNoContent(await claim(viewer));
    await harness.advance(6);
    expect((await readRounds(stream)).at(-1)?.count).toBe(3);
  });

  test('[W-9] record-winner returns 409 without an open round, also to viewers who would not qualify', async () => {
    const { stream, viewers } = await show(2);
    const [right, wrong] = viewers as [TestViewer, TestViewer];
    await playQuiz(stream, [right], [wrong]);
    for (const viewer of viewers) await expectProblem(await claim(viewer), 409);
    await openRound(stream);
    await harness.advance(6);
    for (const viewer of viewers) await expectProblem(await claim(viewer), 409);
  });

  test('[W-10] a repeated record-winner returns 204 and counts once', async () => {
    const { stream, viewers } = await show(1);
    await openRound(stream);
    for (let i = 0; i < 3; i++) await expectNoContent(await claim(viewers[0]));
    const both = await Promise.all([claim(viewers[0]), claim(viewers[0])]);
    for (const response of both) await expectNoContent(response);
    await harness.advance(6);
    expect((await readRounds(stream)).at(-1)?.count).toBe(1);
  });

  test('[W-11] record-winner with the streamId of another stream returns 401', async () => {
    const { viewers } = await show(1);
    const { stream: other } = await show(1);
    await openRound(other);
    for (const id of [other, crypto.randomUUID(), 'x']) {
      const refused = await viewers[0].post(`/api/v1/quizzes/${id}/record-winner`);
      await expectUnauthorized(refused, 'Bearer');
    }
    await harness.advance(6);
    expect((await readRounds(other)).at(-1)?.count).toBe(0);
  });

  test('[W-12] each winners round counts from 0', async () => {
    const { stream, viewers } = await show(3);
    for (const count of [3, 1, 0, 2]) {
      await openRound(stream);
      for (const viewer of viewers.slice(0, count)) await expectNoContent(await claim(viewer));
      await harness.advance(6);
    }
    expect((await readRounds(stream)).map(({ count }) => count)).toEqual([3, 1, 0, 2]);
  });
});
