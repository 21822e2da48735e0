import { describe, expect, test } from 'bun:test';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { type Draft, draftOf, EMPTY_DRAFT, quizOf } from './draft.ts';

const GOOD: Draft = {
  question: ' Which planet is the largest? ',
  choices: ['Mars', 'Jupiter', ''],
  right: 1,
  durationMs: 10_000,
  isByHand: true,
};

const errorsOf = (draft: Partial<Draft>) => {
  const made = quizOf({ ...GOOD, ...draft });
  return 'errors' in made ? made.errors : null;
};

describe('a quiz that is being written', () => {
  test('is a quiz without empty lines at its end, and without blanks around', () => {
    expect(quizOf(GOOD)).toEqual({
      quiz: {
        question: 'Which planet is the largest?',
        choices: ['Mars', 'Jupiter'],
        answer: 'Jupiter',
        duration: 10_000,
        reveal: 'manual',
      },
    });
  });

  test('comes back as it was', () => {
    const made = quizOf(GOOD);
    const quiz = 'quiz' in made ? made.quiz : null;
    expect(quizOf(draftOf(quiz as StudioQuiz))).toEqual(made);
  });

  test('says what is missing in an empty one', () => {
    const made = quizOf(EMPTY_DRAFT);
    expect(made).toMatchObject({
      errors: { question: expect.any(String), right: expect.any(String) },
    });
  });

  test('says where a choice is empty or there twice', () => {
    expect(errorsOf({ choices: ['Mars', '', 'Venus'], right: 0 })?.choices).toEqual([
      undefined,
      expect.stringContaining('Write'),
      undefined,
    ]);
    expect(errorsOf({ choices: ['Mars', 'Mars'], right: 0 })?.choices[1]).toContain('already');
  });

  test('needs a right one that is a choice', () => {
    expect(errorsOf({ right: null })?.right).toContain('right');
    expect(errorsOf({ right: 2 })?.right).toContain('right');
  });

  test('has a time that the service takes', () => {
    expect(errorsOf({ durationMs: 0 })?.duration).toContain('time');
  });
});
