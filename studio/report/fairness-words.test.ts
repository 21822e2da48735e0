import { describe, expect, test } from 'bun:test';
import type { ReadyReport } from '../../protocol/report.ts';
import { fairnessWords } from './fairness-words.ts';

const FAIR = { answers: 1_204, earliest: 420, median: 2_130, latest: 9_712, early: 0 };
const quizzes = (...shares: readonly number[]) =>
  shares.map((lastMomentShare) => ({
    lastMomentShare,
    answered: 602,
  })) as unknown as ReadyReport['quizzes'];

describe('how fair it was', () => {
  test('is said by when answers came', () => {
    const [times] = fairnessWords({ fairness: FAIR, quizzes: quizzes(0, 0) });
    expect(times).toBe(
      'Of 1,204 answers the first came 0.42\u00a0s after viewers were told its quiz, half of them within 2.1\u00a0s, and the last after 9.7\u00a0s.',
    );
  });

  test('of one answer has no half', () => {
    const fairness = { ...FAIR, answers: 1, median: 420, latest: 420 };
    const [times] = fairnessWords({ fairness, quizzes: quizzes(0) });
    expect(times).toBe('The only answer came 0.42\u00a0s after viewers were told its quiz.');
  });

  test('is said of one that was there before the quiz', () => {
    const [times] = fairnessWords({ fairness: { ...FAIR, earliest: -120 }, quizzes: [] });
    expect(times).toStartWith(
      'Of 1,204 answers the first came 0.12\u00a0s before viewers were told',
    );
  });

  test('is said by who knew too early', () => {
    const words = (early: number) =>
      fairnessWords({ fairness: { ...FAIR, early }, quizzes: quizzes(0, 0) })[1];
    expect(words(0)).toBe('No answer came before its quiz could be on anybody’s screen.');
    expect(words(1)).toStartWith('1 answer (less than 1\u00a0%) came before the quiz');
    expect(words(301)).toStartWith('301 answers (25\u00a0%) came before the quiz');
  });

  test('is said by who had too little time', () => {
    const words = (...shares: number[]) =>
      fairnessWords({ fairness: FAIR, quizzes: quizzes(...shares) })[2];
    expect(words(0, 0)).toBe('0\u00a0% came in the last 0.5\u00a0s before the close.');
    expect(words(0.1, 0)).toBe('5\u00a0% came in the last 0.5\u00a0s before the close.');
    expect(words(0.2, 0.4)).toStartWith(
      '30\u00a0% came in the last 0.5\u00a0s before the close. That is many:',
    );
  });

  test('of a show without answers is not said', () => {
    expect(fairnessWords({ fairness: null, quizzes: [] })).toEqual(['Nobody answered anything.']);
  });
});
