import { describe, expect, test } from 'bun:test';
import type { QuizResults } from '../../sdk/types.ts';
import type { AnswerOutcome, ViewerQuiz } from '../../sdk/viewer.ts';
import { QUIZ, RESULTS } from '../../test/support/player/pages/fake-viewer.ts';
import { phaseOf, quizStatus, roundText, winnersText } from './quiz-text.ts';

const viewerQuiz = (
  choice: string | null,
  outcome: AnswerOutcome | null,
  results: QuizResults | null = null,
): ViewerQuiz => ({ quiz: QUIZ, choice, outcome, results });
/** @returns the status as "tone: text" */
const statusOf = (quiz: ViewerQuiz, remainingMs = 0) => {
  const { tone, text } = quizStatus(quiz, phaseOf(quiz, remainingMs, false));
  return `${tone}: ${text}`;
};

const OUTCOMES = ['counted', 'other-answer', 'too-late', 'unknown'] as const;

test('a quiz is open, answered, closed, then revealed', () => {
  expect(phaseOf(viewerQuiz(null, null), 1, false)).toBe('open');
  expect(phaseOf(viewerQuiz('Mars', null), 1, false)).toBe('answered');
  expect(phaseOf(viewerQuiz('Mars', 'counted'), 0, false)).toBe('closed');
  expect(phaseOf(viewerQuiz(null, null), 0, false)).toBe('closed');
  expect(phaseOf(viewerQuiz(null, null, RESULTS), 1, false)).toBe('revealed');
});

describe('a quiz in a replay', () => {
  test('is shown as a quiz of the live show', () => {
    const quiz = viewerQuiz(null, null);
    expect(phaseOf(quiz, 0, true)).toBe('replayed');
    expect(quizStatus(quiz, 'replayed').text).toBe('Viewers answered this during the live show.');
    expect(phaseOf(viewerQuiz(null, null, RESULTS), 0, true)).toBe('revealed');
  });

  test('[Q-23] can be answered until it closes', () => {
    expect(phaseOf(viewerQuiz(null, null), 1, true)).toBe('open');
  });
});

describe('the quiz status', () => {
  test.each([
    [null, null, 1, 'plain: Pick one. You cannot change it later.'],
    ['Mars', null, 1, 'plain: Sending your answer…'],
    ['Mars', 'counted', 1, 'good: Answer locked in!'],
    ['Mars', 'other-answer', 0, 'plain: Your earlier answer from another device or tab counts.'],
    ['Mars', 'too-late', 0, 'bad: Your answer came too late and does not count.'],
    ['Mars', 'unknown', 0, 'bad: We could not confirm your answer. It may or may not count.'],
    [null, null, 0, 'plain: Results coming soon.'],
  ] as const)('with choice %p and outcome %p, %d ms left, is %p', (choice, outcome, ms, status) => {
    expect(statusOf(viewerQuiz(choice, outcome), ms)).toBe(status);
  });

  test('says with the results whether a counted answer is correct', () => {
    expect(statusOf(viewerQuiz('Jupiter', 'counted', RESULTS))).toBe('good: Correct!');
    expect(statusOf(viewerQuiz('Mars', 'counted', RESULTS))).toBe('bad: Not this time.');
    expect(statusOf(viewerQuiz(null, null, RESULTS))).toBe('plain: You did not answer this one.');
  });

  test('does not promise that a correct answer counts when that is unknown', () => {
    for (const outcome of [...OUTCOMES, null].filter((other) => other !== 'counted')) {
      expect(statusOf(viewerQuiz('Jupiter', outcome, RESULTS))).not.toStartWith('good');
    }
    expect(statusOf(viewerQuiz('Jupiter', 'unknown', RESULTS))).toContain('may or may not count');
    expect(statusOf(viewerQuiz('Jupiter', 'too-late', RESULTS))).toContain('too late');
  });
});

test('the round text says whether the viewer can still win, when that is known', () => {
  expect(roundText({ isWinning: true })).toContain('You can still win');
  expect(roundText({ isWinning: false })).toContain('out of this round');
  expect(roundText({ isWinning: null })).toBeNull();
});

describe('the winners text', () => {
  test('has the number of winners, or addresses the viewer as a winner', () => {
    const textOf = (count: number | null, hasWon = false) => {
      const { title, more } = winnersText(count, hasWon, false);
      return `${title} ${more}`;
    };
    expect(textOf(null)).toBe('Who won? Counting the winners…');
    expect(textOf(12, true)).toBe('You won! You are one of 12 winners.');
    expect(textOf(1, true)).toBe('You won! You are the only winner.');
    expect(textOf(0)).toStartWith('Nobody won');
    expect(textOf(1)).toStartWith('One viewer won');
    expect(textOf(1_234)).toStartWith('1,234 viewers won');
  });

  test('does not mention another round when the show is over', () => {
    expect(winnersText(3, false, false).more).toContain('round');
    expect(winnersText(3, false, true).more).toBe('Well played.');
    expect(winnersText(0, false, false).more).toContain('round');
    expect(winnersText(0, false, true).more).toBe('');
  });
});
