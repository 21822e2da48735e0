import { describe, expect, test } from 'bun:test';
import type { ReadyReport } from '../../protocol/report.ts';
import { fairnessSentences } from './fairness-sentences.ts';

const FAIR = { answers: 1_204, earliest: 420, median: 2_130, latest: 9_712, early: 0 };
const quizzes = (...shares: readonly number[]) =>
  shares.map((lastMomentShare) => ({
    lastMomentShare,
    answered: 602,
  })) as unknown as ReadyReport['quizzes'];

describe('fairnessSentences', () => {
  test('has the first, median and last answer time', () => {
    const [times] = fairnessSentences({ fairness: FAIR, quizzes: quizzes(0, 0) });
    expect(times).toBe(
      'Of 1,204 answers the first came 0.42\u00a0s after the quiz was sent, half of them within 2.1\u00a0s, and the last after 9.7\u00a0s.',
    );
  });

  test('has no median for one answer', () => {
    const fairness = { ...FAIR, answers: 1, median: 420, latest: 420 };
    const [times] = fairnessSentences({ fairness, quizzes: quizzes(0) });
    expect(times).toBe('The only answer came 0.42\u00a0s after the quiz was sent.');
  });

  test('reports an answer before the quiz', () => {
    const [times] = fairnessSentences({ fairness: { ...FAIR, earliest: -120 }, quizzes: [] });
    expect(times).toStartWith(
      'Of 1,204 answers the first came 0.12\u00a0s before the quiz was sent',
    );
  });

  test('has the share of early answers', () => {
    const sentence = (early: number) =>
      fairnessSentences({ fairness: { ...FAIR, early }, quizzes: quizzes(0, 0) })[1];
    expect(sentence(0)).toBe('No answer arrived before its quiz could be on screen.');
    expect(sentence(1)).toStartWith('1 answer (less than 1\u00a0%) arrived before the quiz');
    expect(sentence(301)).toStartWith('301 answers (25\u00a0%) arrived before the quiz');
  });

  test('has the share of last-moment answers', () => {
    const sentence = (...shares: number[]) =>
      fairnessSentences({ fairness: FAIR, quizzes: quizzes(...shares) })[2];
    expect(sentence(0, 0)).toBe('0\u00a0% came in the last 0.5\u00a0s before the close.');
    expect(sentence(0.1, 0)).toBe('5\u00a0% came in the last 0.5\u00a0s before the close.');
    expect(sentence(0.2, 0.4)).toStartWith(
      '30\u00a0% came in the last 0.5\u00a0s before the close. This is a large share:',
    );
  });

  test('is one sentence without answers', () => {
    expect(fairnessSentences({ fairness: null, quizzes: [] })).toEqual(['No answers.']);
  });
});
