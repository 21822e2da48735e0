import { expect, test } from 'bun:test';
import { studioQuizSchema } from '../../../protocol/studio.ts';
import { studioQuizOf } from './quiz-wire.ts';
import type { QuizRow } from './quizzes-sql.ts';

const QUIZ: QuizRow = {
  id: '22222222-2222-4333-8444-555555555555',
  number: 7,
  position: 7,
  streamId: '11111111-2222-4333-8444-555555555555',
  state: 'revealed',
  revision: 0,
  question: 'When?',
  choices: ['later', '1984', 'never'],
  answer: 1,
  durationMs: 10_000,
  reveal: 'manual',
  created: 1_000,
  closeInterval: 44,
  game: 3,
  counts: [1, 1, 1],
};

test('[P-16] studioQuizOf has exactly the fields of a StudioQuiz', () => {
  const quiz = studioQuizOf(QUIZ);
  expect(Object.keys(quiz)).toEqual(Object.keys(studioQuizSchema.shape));
  expect(studioQuizSchema.strict().safeParse(quiz).success).toBe(true);
  expect(quiz).toMatchObject({
    choices: ['later', '1984', 'never'],
    answer: '1984',
    duration: 10_000,
    created: 1_000,
    closeInterval: 44,
  });
});

test('studioQuizOf throws for a row whose answer is no choice', () => {
  expect(() => studioQuizOf({ ...QUIZ, answer: 3 })).toThrow(RangeError);
});
