import { INTERVAL_MS, intervalStartMs } from '../../../protocol/interval.ts';
import { ANSWER_TIME_BINS, LAST_MOMENT_MS } from '../../../protocol/limits.ts';
import type { AnswerTimes, Fairness, QuizReport } from '../../../protocol/report.ts';
import { addTime, addTimes, quantile, type Times } from './times.ts';

/** The intervals in which viewers could answer a quiz. */
export interface AnswerWindow {
  /** The interval that contains the quiz. */
  readonly toldInterval: number;
  readonly closeInterval: number;
}

/**
 * Running totals over the answers to one or several quizzes. Times count from the start of the
 * interval with the quiz. Stored as JSON in a report's progress, so that field names must stay.
 */
export interface AnswerFigures {
  readonly answers: number;
  readonly times: Times;
  readonly earliestMs: number | null;
  readonly latestMs: number | null;
  /** Answers that arrived before the interval with the quiz had ended, before anyone could see it. */
  readonly early: number;
}

/** Running totals over the answers to one quiz. */
export interface QuizFigures extends AnswerFigures {
  /** Histogram of answer times, in bins of `binMsOf` ms. */
  readonly bins: readonly number[];
  /** Answers in the last `LAST_MOMENT_MS`. */
  readonly lastMoment: number;
}

export const NO_ANSWERS: AnswerFigures = {
  answers: 0,
  times: {},
  earliestMs: null,
  latestMs: null,
  early: 0,
};

/** Initial totals of a quiz. */
export function emptyQuizFigures(window: AnswerWindow): QuizFigures {
  const count = Math.ceil(windowMs(window) / binMsOf(window));
  return { ...NO_ANSWERS, bins: new Array(count).fill(0), lastMoment: 0 };
}

/** The totals with further answers added. @param received arrival times, Unix ms */
export function withAnswers(
  figures: QuizFigures,
  window: AnswerWindow,
  received: Iterable<number>,
): QuizFigures {
  const publishedMs = intervalStartMs(window.toldInterval);
  const lastMomentMs = windowMs(window) - LAST_MOMENT_MS;
  const times = { ...figures.times };
  const bins = [...figures.bins];
  let { answers, earliestMs, latestMs, early, lastMoment } = figures;
  for (const at of received) {
    const ms = at - publishedMs;
    answers++;
    addTime(times, ms);
    earliestMs = Math.min(earliestMs ?? ms, ms);
    latestMs = Math.max(latestMs ?? ms, ms);
    if (ms < INTERVAL_MS) early++;
    if (ms >= lastMomentMs) lastMoment++;
    const bin = Math.min(bins.length - 1, Math.max(0, Math.floor(ms / binMsOf(window))));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return { answers, times, earliestMs, latestMs, early, bins, lastMoment };
}

/** The totals over several quizzes with one more quiz added. */
export function withQuiz(all: AnswerFigures, quiz: AnswerFigures): AnswerFigures {
  if (quiz.earliestMs === null || quiz.latestMs === null) return all;
  const times = { ...all.times };
  addTimes(times, quiz.times);
  return {
    answers: all.answers + quiz.answers,
    times,
    earliestMs: Math.min(all.earliestMs ?? quiz.earliestMs, quiz.earliestMs),
    latestMs: Math.max(all.latestMs ?? quiz.latestMs, quiz.latestMs),
    early: all.early + quiz.early,
  };
}

/** The part of a quiz's report about answer times. */
export type QuizTimes = Pick<QuizReport, 'answerTimes' | 'lastMomentShare'>;

export function quizTimesOf(figures: QuizFigures, window: AnswerWindow): QuizTimes {
  const { answers, lastMoment } = figures;
  return {
    answerTimes: answerTimesOf(figures, window),
    lastMomentShare: answers === 0 ? 0 : lastMoment / answers,
  };
}

function answerTimesOf({ times, bins }: QuizFigures, window: AnswerWindow): AnswerTimes | null {
  const median = quantile(times, 0.5);
  const p90 = quantile(times, 0.9);
  if (median === null || p90 === null) return null;
  return { median, p90, histogram: { binMs: binMsOf(window), counts: [...bins] } };
}

/** Fairness over all answers of the show; null when there are none. */
export function fairnessOf(all: AnswerFigures): Fairness | null {
  const { answers, times, earliestMs: earliest, latestMs: latest, early } = all;
  const median = quantile(times, 0.5);
  if (median === null || earliest === null || latest === null) return null;
  return {
    answers,
    earliest,
    median: Math.min(latest, Math.max(earliest, median)),
    latest,
    early,
  };
}

function windowMs({ toldInterval, closeInterval }: AnswerWindow): number {
  return Math.max(INTERVAL_MS, intervalStartMs(closeInterval - toldInterval));
}

/** Width of a histogram bin: whole intervals. */
function binMsOf(window: AnswerWindow): number {
  return Math.ceil(windowMs(window) / ANSWER_TIME_BINS / INTERVAL_MS) * INTERVAL_MS;
}
