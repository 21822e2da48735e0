import { expect, test } from 'bun:test';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import type { PublishedQuiz } from './quizzes-sql.ts';

const STREAM = uuidOf(1);

test('[I-3] [N-22] an answer to a lost quiz does not count for the quiz that has its number now', async () => {
  const show = await openShow([STREAM]);
  const own = { id: uuidOf(2), producer: PRODUCER };
  const quiz = { question: 'Which?', choices: ['a', 'b'], answer: 'a', duration: 5_000 };
  await show.store.createQuiz({ ...own, streamId: STREAM, quiz: { ...quiz, reveal: 'auto' } });
  const published = (await show.store.publishQuiz({
    ...own,
    nowMs: SHOW_START_MS,
  })) as PublishedQuiz;
  const { number, created } = published;
  const answer = { quiz: number, created, seat: 1, choice: 0, receivedMs: created + 1_000 };
  expect(await show.store.recordAnswers([answer])).toEqual(['accepted']);
  const lost = { ...answer, created: created - 1_000 };
  const answers = [lost, { ...lost, choice: 1 }, { ...lost, seat: 2 }, answer];
  expect(await show.store.recordAnswers(answers)).toEqual([
    'closed',
    'closed',
    'closed',
    'duplicate',
  ]);
  await show.close();
});
