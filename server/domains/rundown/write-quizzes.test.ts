import { expect, test } from 'bun:test';
import { serializeQuizzes } from './write-quizzes.ts';

test.each([0, 1, 45])('[D-15] a JSON export of %i quizzes is written in parts', (count) => {
  const quizzes = Array.from({ length: count }, (_, n) => ({
    question: `Which\nis "${n}"?`,
    choices: ['a', 'b'],
    answer: 'a',
    duration: 10_000,
    reveal: 'auto' as const,
  }));
  const parts = [...serializeQuizzes(quizzes, 'json')];
  expect(parts).toHaveLength(2 + Math.ceil(count / 20));
  expect(parts.join('')).toBe(`${JSON.stringify({ quizzes }, null, 2)}\n`);
});
