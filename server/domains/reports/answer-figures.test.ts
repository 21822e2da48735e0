import { describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../../../protocol/interval.ts';
import {
  emptyQuizFigures,
  fairnessOf,
  NO_ANSWERS,
  quizTimesOf,
  withAnswers,
  withQuiz,
} from './answer-figures.ts';

/** Published at 0 s and closed at 10 s. */
const WINDOW = { toldInterval: 1_000, closeInterval: 1_040 };
const PUBLISHED_MS = intervalStartMs(1_000);

const figuresOf = (...times: number[]) =>
  withAnswers(
    emptyQuizFigures(WINDOW),
    WINDOW,
    times.map((ms) => PUBLISHED_MS + ms),
  );

describe('answer times of a quiz', () => {
  test('[J-7] answer times of a quiz include the median and the 90th percentile', () => {
    const { answerTimes } = quizTimesOf(
      figuresOf(1_000, 1_200, 1_400, 1_600, 1_800, 2_000, 900, 800, 700, 9_000),
      WINDOW,
    );
    expect(answerTimes?.median).toBe(1_200);
    expect(answerTimes?.p90).toBe(2_000);
  });

  test('[J-7] answer times of a quiz have at most 20 bins of whole intervals up to the close', () => {
    const { answerTimes } = quizTimesOf(figuresOf(-10, 0, 499, 500, 9_999), WINDOW);
    const { binMs, counts } = answerTimes?.histogram ?? { binMs: 0, counts: [] };
    expect(binMs).toBe(500);
    expect(counts).toHaveLength(20);
    expect([counts[0], counts[1], counts[19]]).toEqual([3, 1, 1]);
    for (let intervals = 1; intervals < 2_700; intervals += 13) {
      const window = { toldInterval: 5, closeInterval: 5 + intervals };
      const last = intervalStartMs(5 + intervals) - 1;
      const times = quizTimesOf(
        withAnswers(emptyQuizFigures(window), window, [last]),
        window,
      ).answerTimes;
      const { binMs: width = 0, counts: bars = [] } = times?.histogram ?? {};
      expect(width % 250).toBe(0);
      expect(bars.length).toBeLessThanOrEqual(20);
      expect(bars.at(-1)).toBe(1);
      expect(width * bars.length).toBeGreaterThanOrEqual(250 * intervals);
      expect(width * (bars.length - 1)).toBeLessThan(250 * intervals);
    }
  });

  test('[J-7] answer times of a quiz include the share of answers in the last 500 ms', () => {
    const { lastMomentShare } = quizTimesOf(figuresOf(1_000, 9_499, 9_500, 9_999), WINDOW);
    expect(lastMomentShare).toBe(0.5);
  });

  test('[J-7] answer times of a quiz are null without answers', () => {
    expect(quizTimesOf(figuresOf(), WINDOW)).toEqual({ answerTimes: null, lastMomentShare: 0 });
  });

  test('answer times of a quiz are the same whether added page by page or at once', () => {
    const times = Array.from({ length: 500 }, (_, n) => (n * 7_919) % 10_000);
    let figures = emptyQuizFigures(WINDOW);
    for (let at = 0; at < times.length; at += 33) {
      const received = times.slice(at, at + 33).map((ms) => PUBLISHED_MS + ms);
      figures = withAnswers(figures, WINDOW, received);
    }
    expect(figures).toEqual(figuresOf(...times));
  });
});

describe('fairness', () => {
  test('[J-9] the fairness of a report covers all quizzes, each from its own interval', () => {
    const later = { toldInterval: 9_000, closeInterval: 9_100 };
    const other = withAnswers(
      emptyQuizFigures(later),
      later,
      [120, 3_000].map((ms) => intervalStartMs(9_000) + ms),
    );
    const all = withQuiz(withQuiz(NO_ANSWERS, figuresOf(249, 250, 1_000)), other);
    expect(fairnessOf(all)).toEqual({
      answers: 5,
      earliest: 120,
      median: 250,
      latest: 3_000,
      early: 2,
    });
  });

  test('[J-9] the fairness of a report counts answers from before their quiz was published, with the earliest time', () => {
    expect(fairnessOf(withQuiz(NO_ANSWERS, figuresOf(-300)))).toEqual({
      answers: 1,
      earliest: -300,
      median: -300,
      latest: -300,
      early: 1,
    });
  });

  test('[J-9] the fairness of a report is null without answers', () => {
    expect(fairnessOf(withQuiz(NO_ANSWERS, figuresOf()))).toBeNull();
  });
});
