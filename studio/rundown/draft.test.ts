import { describe, expect, test } from 'bun:test';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { type Draft, draftOf, EMPTY_DRAFT, quizChanges, validateDraft } from './draft.ts';

const VALID: Draft = {
  question: ' Which planet is the largest? ',
  choices: ['Mars', 'Jupiter', ''],
  correctIndex: 1,
  durationMs: 10_000,
  isManualReveal: true,
};

const errorsOf = (draft: Partial<Draft>) => {
  const result = validateDraft({ ...VALID, ...draft });
  return 'errors' in result ? result.errors : null;
};

describe('validateDraft', () => {
  test('trims texts and drops empty choices at the end', () => {
    expect(validateDraft(VALID)).toEqual({
      quiz: {
        question: 'Which planet is the largest?',
        choices: ['Mars', 'Jupiter'],
        answer: 'Jupiter',
        duration: 10_000,
        reveal: 'manual',
      },
    });
  });

  test('returns the quiz that draftOf converted', () => {
    const result = validateDraft(VALID);
    const quiz = 'quiz' in result ? result.quiz : null;
    expect(validateDraft(draftOf(quiz as StudioQuiz))).toEqual(result);
  });

  test('returns errors for an empty draft', () => {
    const errors = { question: expect.any(String), correctChoice: expect.any(String) };
    expect(validateDraft(EMPTY_DRAFT)).toMatchObject({ errors });
  });

  test('returns errors for empty and duplicate choices', () => {
    const empty = errorsOf({ choices: ['Mars', '', 'Venus'], correctIndex: 0 });
    expect(empty?.choices).toEqual([undefined, expect.stringContaining('Enter'), undefined]);
    const duplicate = errorsOf({ choices: ['Mars', 'Mars'], correctIndex: 0 });
    expect(duplicate?.choices[1]).toContain('already');
  });

  test('requires a correct choice that exists', () => {
    expect(errorsOf({ correctIndex: null })?.correctChoice).toContain('correct');
    expect(errorsOf({ correctIndex: 2 })?.correctChoice).toContain('correct');
  });

  test('requires a duration that the service accepts', () => {
    expect(errorsOf({ durationMs: 0 })?.duration).toContain('time');
  });
});

describe('quizChanges', () => {
  const quiz = {
    ...{ question: ' Which planet is the largest? ', choices: ['Mars', 'Jupiter'] },
    ...{ answer: 'Jupiter', duration: 10_000, reveal: 'auto' },
  } as StudioQuiz;
  const edited = (draft: Partial<Draft>) => {
    const result = validateDraft({ ...draftOf(quiz), ...draft });
    return 'quiz' in result ? quizChanges(quiz, result.quiz) : result.errors;
  };

  test('leaves the fields that the host did not edit to other hosts', () => {
    expect(edited({ durationMs: 5_000 })).toEqual({ duration: 5_000 });
  });

  test('has question, choices and answer together', () => {
    const { question, choices, answer } = { ...quiz, question: quiz.question.trim() };
    const all = { question, choices, answer };
    expect(edited({ question: 'Which one is red?' })).toEqual({
      ...all,
      question: 'Which one is red?',
    });
    expect(edited({ correctIndex: 0 })).toEqual({ ...all, answer: 'Mars' });
    const more = [...choices, 'Venus'];
    expect(edited({ choices: more })).toEqual({ ...all, choices: more });
  });

  test('has the answer with the choices when the host rewords it', () => {
    const changes = { choices: ['Mars', 'The Jupiter'], answer: 'The Jupiter' };
    expect(edited({ choices: changes.choices })).toMatchObject(changes);
  });

  test('is null for a quiz that was not edited, with spaces around its question too', () => {
    expect(edited({})).toBeNull();
  });
});
