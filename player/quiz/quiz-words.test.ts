import { describe, expect, test } from 'bun:test';
import type { QuizResults } from '../../sdk/types.ts';
import type { AnswerOutcome, ViewerQuiz } from '../../sdk/viewer.ts';
import { QUIZ, RESULTS } from '../../test/support/player/pages/fake-viewer.ts';
import { gameWords, phaseOf, standingOf, winnerWords } from './quiz-words.ts';

const quiz = (
  choice: string | null,
  outcome: AnswerOutcome | null,
  results: QuizResults | null = null,
): ViewerQuiz => ({ quiz: QUIZ, choice, outcome, results });
const standing = (of: ViewerQuiz, remainingMs = 0) => {
  const { tone, words } = standingOf(of, phaseOf(of, remainingMs, false));
  return `${tone}: ${words}`;
};

const OUTCOMES = ['counted', 'other-answer', 'too-late', 'unknown'] as const;

describe('a quiz', () => {
  test('is open, answered, closed, then revealed', () => {
    expect(phaseOf(quiz(null, null), 1, false)).toBe('open');
    expect(phaseOf(quiz('Mars', null), 1, false)).toBe('answered');
    expect(phaseOf(quiz('Mars', 'counted'), 0, false)).toBe('closed');
    expect(phaseOf(quiz(null, null), 0, false)).toBe('closed');
    expect(phaseOf(quiz(null, null, RESULTS), 1, false)).toBe('revealed');
  });
});

describe('a quiz of a show that is over', () => {
  test('is told as one that was asked then', () => {
    const again = quiz(null, null);
    expect(phaseOf(again, 0, true)).toBe('replayed');
    expect(standingOf(again, 'replayed').words).toBe('Answers were taken during the show.');
    expect(phaseOf(quiz(null, null, RESULTS), 0, true)).toBe('revealed');
  });

  test('[Q-23] can be answered until it closes', () => {
    expect(phaseOf(quiz(null, null), 1, true)).toBe('open');
  });
});

describe('what stands beside the countdown', () => {
  test('says that a choice stands, before it is made', () => {
    expect(standing(quiz(null, null), 1)).toBe('plain: Choose one. The first choice stands.');
  });

  test('says what became of an answer, honestly when nobody knows', () => {
    expect(standing(quiz('Mars', null), 1)).toBe('plain: Your answer is on its way.');
    expect(standing(quiz('Mars', 'counted'), 1)).toBe('good: Your answer counts.');
    expect(standing(quiz('Mars', 'other-answer'))).toBe(
      'plain: Your earlier answer, from elsewhere, stands.',
    );
    expect(standing(quiz('Mars', 'too-late'))).toBe(
      'bad: Your answer came too late. It does not count.',
    );
    expect(standing(quiz('Mars', 'unknown'))).toBe(
      'bad: The service did not answer in time. It may count or not.',
    );
  });

  test('says to who did not answer what comes next', () => {
    expect(standing(quiz(null, null))).toBe('plain: The results come soon.');
  });

  test('says with the results whether the answer was correct, if it counts', () => {
    expect(standing(quiz('Jupiter', 'counted', RESULTS))).toBe('good: Correct!');
    expect(standing(quiz('Mars', 'counted', RESULTS))).toBe('bad: Not this time.');
    expect(standing(quiz(null, null, RESULTS))).toBe('plain: You did not answer this one.');
  });

  test('never promises that a correct answer counts when that is not known', () => {
    for (const outcome of [...OUTCOMES, null].filter((one) => one !== 'counted')) {
      expect(standing(quiz('Jupiter', outcome, RESULTS))).not.toStartWith('good');
    }
    expect(standing(quiz('Jupiter', 'unknown', RESULTS))).toContain('It may count or not.');
    expect(standing(quiz('Jupiter', 'too-late', RESULTS))).toContain('too late');
  });
});

describe('whether the viewer may still win', () => {
  test('is said when it is known', () => {
    expect(gameWords({ isWinning: true })).toContain('you can still win');
    expect(gameWords({ isWinning: false })).toContain('out of this round');
    expect(gameWords({ isWinning: null })).toBeNull();
  });
});

describe('the winners', () => {
  test('are told by their number, and to the viewer as a winner', () => {
    const words = (count: number | null, hasWon = false) => {
      const { title, more } = winnerWords(count, hasWon, false);
      return `${title} ${more}`;
    };
    expect(words(null)).toBe('Who has won? The winners are being counted.');
    expect(words(12, true)).toBe('You have won! You are one of 12 winners.');
    expect(words(1, true)).toBe('You have won! You are the only winner.');
    expect(words(0)).toStartWith('Nobody has won');
    expect(words(1)).toStartWith('One viewer has won');
    expect(words(1_234)).toStartWith('1,234 viewers have won');
  });

  test('are no reason to speak of a next round when the show is over', () => {
    expect(winnerWords(3, false, false).more).toContain('round');
    expect(winnerWords(3, false, true).more).toBe('Well played.');
    expect(winnerWords(0, false, false).more).toContain('round');
    expect(winnerWords(0, false, true).more).toBe('');
  });
});
