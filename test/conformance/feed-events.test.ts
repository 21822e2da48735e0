import { describe, expect, test } from 'bun:test';
import type { Chats } from '../../protocol/feed.ts';
import type { Quiz, QuizResults } from '../../protocol/quizzes.ts';
import { expectMembers, expectNoContent } from '../support/conformance/expectations.ts';
import { eventsFrom, feedSteps, newAudience, ofType } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, QUIZ, type TestViewer } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
await harness.advance(1);

const { newViewer, send } = feedSteps(harness);
const register = async (viewer: TestViewer) =>
  expectNoContent(await viewer.post(`/api/v1/view-counts/${viewer.streamId}`));
/** Advances to the first interval of a second: the next view-count is three intervals later. */
const toWholeSecond = () => harness.advance((4 - (harness.interval() % 4)) % 4);
/** The events of a type in the sealed intervals from one interval on. */
const dataOf = async <T>(viewer: TestViewer, type: string, from: number) =>
  ofType<T>(await eventsFrom(harness, viewer, from), type);
/** Runs a quiz to its results and returns the data of its two events. */
async function playQuiz(fields: Record<string, unknown> = {}) {
  const viewer = await newViewer();
  const from = harness.interval();
  const quiz = await harness.publishQuiz(viewer.streamId, { duration: 1_000, ...fields });
  await expectNoContent(await answer(viewer, quiz, fields.answer));
  await harness.advance(quiz.closeInterval + 2 - from);
  const [published] = await dataOf<Quiz>(viewer, 'quiz', from);
  const [results] = await dataOf<QuizResults>(viewer, 'quiz-results', from);
  if (!published || !results) throw new Error('an event of the quiz is missing');
  return { viewer, quiz, published, results };
}

describe('view-count', () => {
  test('[F-26] a view-count has exactly value and formatted, as of the end of its interval', async () => {
    await toWholeSecond();
    const { viewers } = await newAudience(harness, 4);
    for (const viewer of viewers) await register(viewer);
    await harness.advance(4);
    const [count] = await dataOf(viewers[0], 'view-count', harness.interval() - 4);
    expect(count?.data).toEqual({ value: 4, formatted: '4' });
  });

  test('[F-27] a view-count is published once a second, in intervals with interval % 4 = 3', async () => {
    await toWholeSecond();
    const viewer = await newViewer();
    const from = harness.interval();
    for (let step = 0; step < 16; step++) {
      if (step % 4 === 0) await register(viewer);
      await harness.advance(1);
    }
    const counts = await dataOf<{ value: number }>(viewer, 'view-count', from);
    expect(counts.map(({ interval, data }) => [interval, data.value])).toEqual([
      [from + 3, 1],
      [from + 7, 1],
      [from + 11, 1],
      [from + 15, 1],
    ]);
  });

  test('[F-27] a view-count is published once after the count falls to 0, and no more while nobody reads the feed', async () => {
    await toWholeSecond();
    const viewer = await newViewer();
    const from = harness.interval();
    await register(viewer);
    await harness.advance(16);
    const counts = await dataOf<{ value: number }>(viewer, 'view-count', from);
    expect(counts.map(({ interval, data }) => [interval, data.value])).toEqual([
      [from + 3, 1],
      [from + 7, 0],
    ]);
  });

  test('[F-27] a stream without viewers has view-counts while its feed is read and for 2 s after', async () => {
    await toWholeSecond();
    const viewer = await newViewer();
    const from = harness.interval();
    await harness.events(viewer, from - 1);
    await harness.advance(20);
    const counts = await dataOf<{ value: number }>(viewer, 'view-count', from);
    expect(counts.map(({ interval, data }) => [interval, data.value])).toEqual([
      [from + 3, 0],
      [from + 7, 0],
    ]);
  });

  test('[F-27] [V-9] a view-count counts only viewers of its own stream', async () => {
    await toWholeSecond();
    const one = await newViewer();
    const two = await newViewer();
    const second = await harness.viewer(two.streamId);
    for (const viewer of [one, two, second]) await register(viewer);
    const from = harness.interval();
    await harness.advance(4);
    for (const [viewer, value] of [
      [one, 1],
      [two, 2],
    ] as const) {
      const counts = await dataOf<{ value: number }>(viewer, 'view-count', from);
      expect(counts.map(({ data }) => data.value)).toEqual([value]);
    }
  });
});

describe('quiz and quiz-results', () => {
  const MEMBERS = [
    'id',
    'streamId',
    'created',
    'duration',
    'closeInterval',
    'question',
    'choices',
    'order',
  ];

  test('[F-29] [F-30] a quiz event has exactly its members, no answer and all counts 0', async () => {
    const { viewer, quiz, published } = await playQuiz();
    expectMembers(published.data, MEMBERS);
    expect(published.data).toEqual({
      id: quiz.id,
      streamId: viewer.streamId,
      created: quiz.created,
      duration: 1_000,
      closeInterval: quiz.closeInterval,
      question: QUIZ.question,
      choices: {
        Mars: { count: 0, percentage: 0 },
        Jupiter: { count: 0, percentage: 0 },
        Venus: { count: 0, percentage: 0 },
      },
      order: QUIZ.choices,
    });
    for (const value of [
      published.data.created,
      published.data.duration,
      published.data.closeInterval,
    ]) {
      expect(value).toBeInteger();
    }
  });

  test('[F-32] quiz-results has the members of the quiz event with final counts, percentages and the answer', async () => {
    const { published, results } = await playQuiz();
    expectMembers(results.data, [...MEMBERS, 'answer']);
    const { answer, choices, ...rest } = results.data;
    const { choices: _, ...publishedRest } = published.data;
    expect(rest).toEqual(publishedRest);
    expect(answer).toBe(QUIZ.answer);
    expect(choices).toEqual({
      Mars: { count: 0, percentage: 0 },
      Jupiter: { count: 1, percentage: 100 },
      Venus: { count: 0, percentage: 0 },
    });
  });

  test("[F-30] [F-31] choice texts are unchanged as keys, and order is the producer's", async () => {
    const choices = ['2001', 'constructor', '1984', 'toString', '  two  spaces ', '"\\😀', '0'];
    const { published, results } = await playQuiz({ choices, answer: '1984' });
    expect(published.data.order).toEqual(choices);
    expect(results.data.order).toEqual(choices);
    expectMembers(published.data.choices, choices);
    for (const choice of Object.values(published.data.choices)) {
      expect(choice).toEqual({ count: 0, percentage: 0 });
    }
    expect(results.data.choices['1984']).toEqual({ count: 1, percentage: 100 });
    expect(results.data.answer).toBe('1984');
  });
});

describe('winners', () => {
  test('[F-33] [F-34] request-quiz-winners has null data, quiz-winners the integer count', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    const path = `/streams/${viewer.streamId}/request-winners`;
    await expectJson(await harness.studio('POST', path), 201);
    await expectNoContent(await viewer.post(`/api/v1/quizzes/${viewer.streamId}/record-winner`));
    await harness.advance(6);
    const requests = await dataOf(viewer, 'request-quiz-winners', from);
    expect(requests.map(({ data }) => data)).toEqual([null]);
    const winners = await dataOf(viewer, 'quiz-winners', from);
    expect(winners.map(({ data }) => data)).toEqual([{ count: 1 }]);
  });
});

describe('events of the producer', () => {
  test('[F-35] custom events are published with the type and data that the producer sent', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    const sent: [string, object | null][] = [
      ['lights', { colour: 'red', levels: [1, 2.5, -3, 1e21], on: true, off: null }],
      ['a', null],
      ['x-0-y', { nested: { deeply: { '': '' } }, toString: 1, 'é"\\': 'line\nfeed\u0000' }],
      ['empty', {}],
    ];
    for (const [type, data] of sent) await send(viewer, type, data);
    await harness.advance(1);
    const events = await harness.events(viewer, from);
    const customEvents = events.filter(({ type }) => type !== 'view-count');
    expect(customEvents.map(({ type, data }) => [type, data])).toEqual(sent);
  });

  test('[F-28] [P-24] purchases and discounts are published in the chats event, not as events of their own', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    await send(viewer, 'purchase', { name: 'Ada', text: 'two mugs' });
    await send(viewer, 'discount', { count: 3 });
    await harness.advance(1);
    const [chats] = await dataOf<Chats>(viewer, 'chats', from);
    expect(chats?.data).toMatchObject({ discounts: 3, hearts: 0, messages: [] });
    expect(chats?.data.purchases).toHaveLength(1);
    const types = (await harness.events(viewer, from)).map(({ type }) => type);
    expect(types.filter((type) => type !== 'view-count')).toEqual(['chats']);
  });

  test('[F-14] 260 events committed in one interval are all sealed in it, in the order of commit', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    const ids: string[] = [];
    for (let n = 0; n < 260; n++) ids.push((await send(viewer, 'tick', { n })).id);
    await harness.advance(2);
    const ticks = await dataOf<{ n: number }>(viewer, 'tick', from);
    expect(new Set(ticks.map(({ interval }) => interval))).toEqual(new Set([from]));
    expect(ticks.map(({ data }) => data.n)).toEqual(Array.from({ length: 260 }, (_, n) => n));
    expect(new Set(ids).size).toBe(260);
  });
});
