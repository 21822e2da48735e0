import { expect, test } from 'bun:test';
import { sampleQuiz } from '../test/support/crowd/events.ts';
import { AnswerFigures } from './answer-figures.ts';

const QUIZ = sampleQuiz();

test('[Y-7] AnswerFigures counts each answer once, by its final result', () => {
  const figures = new AnswerFigures();
  figures.addQuiz(QUIZ);
  expect(figures.record('quiz', null, 'acknowledged')).toBe('acknowledged');
  // The service refuses a different choice and acknowledges the same choice again.
  expect(figures.record('quiz', 'acknowledged', 'late')).toBe('acknowledged');
  expect(figures.record('quiz', 'acknowledged', 'acknowledged')).toBe('acknowledged');
  expect(figures.record('quiz', null, 'late')).toBe('late');
  expect(figures.record('quiz', 'late', 'late')).toBe('late');
  expect(figures.record('quiz', null, 'unknown')).toBe('unknown');
  // An unknown answer may have been recorded: a refusal does not settle it, an acknowledgment does.
  expect(figures.record('quiz', 'unknown', 'late')).toBe('unknown');
  expect(figures.totals()).toEqual({ acknowledged: 1, late: 1, unknown: 1 });
  expect(figures.record('quiz', 'unknown', 'acknowledged')).toBe('acknowledged');
  expect(figures.totals()).toEqual({ acknowledged: 2, late: 1, unknown: 0 });
});

test('[Y-7] AnswerFigures returns the latest quizzes, with the number of answers after the results', () => {
  const figures = new AnswerFigures();
  figures.addQuiz(QUIZ);
  figures.record('quiz', null, 'acknowledged');
  expect(figures.newest(1)[0]?.counted).toBeNull();
  const choices = { Mars: { count: 1, percentage: 50 }, Jupiter: { count: 1, percentage: 50 } };
  figures.addResults({ ...QUIZ, choices, answer: 'Mars' });
  figures.addQuiz({ ...QUIZ, id: 'next' });
  expect(figures.newest(5).map(({ id, counted }) => [id, counted])).toEqual([
    ['quiz', 2],
    ['next', null],
  ]);
  expect(figures.newest(1).map(({ id }) => id)).toEqual(['next']);
});
