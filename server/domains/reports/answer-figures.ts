import { INTERVAL_MS, intervalStartMs } from '../../../protocol/interval.ts';
import {
  ANSWER_TIME_BINS,
  type AnswerTimes,
  type Fairness,
  LAST_MOMENT_MS,
  type QuizReport,
} from '../../../protocol/report.ts';
import { addTime, addTimes, quantile, type Times } from './times.ts';

/** When viewers could answer a quiz. */
export interface Asked {
  readonly toldInterval: number;
  readonly closeInterval: number;
}

/** What answers add up to so far, of one quiz or of several; times are since the quiz was told. */
export interface AnswerFigures {
  readonly answers: number;
  readonly times: Times;
  readonly earliestMs: number | null;
  readonly latestMs: number | null;
  /** That came before the interval that told the quiz had ended, so nobody could be shown it. */
  readonly early: number;
}

/** What the answers to one quiz add up to so far. */
export interface QuizFigures extends AnswerFigures {
  /** By `binMsOf`. */
  readonly bins: readonly number[];
  readonly lastMoment: number;
}

export const NO_ANSWERS: AnswerFigures = {
  answers: 0,
  times: {},
  earliestMs: null,
  latestMs: null,
  early: 0,
};

/** Nothing is answered yet. */
export function noAnswersTo(asked: Asked): QuizFigures {
  const count = Math.ceil(windowMs(asked) / binMsOf(asked));
  return { ...NO_ANSWERS, bins: new Array(count).fill(0), lastMoment: 0 };
}

/** The figures with those of more answers, by when they were received (Unix ms). */
export function withAnswers(
  figures: QuizFigures,
  asked: Asked,
  received: Iterable<number>,
): QuizFigures {
  const toldMs = intervalStartMs(asked.toldInterval);
  const lastMomentMs = windowMs(asked) - LAST_MOMENT_MS;
  const times = { ...figures.times };
  const bins = [...figures.bins];
  let { answers, earliestMs, latestMs, early, lastMoment } = figures;
  for (const at of received) {
    const ms = at - toldMs;
    answers++;
    addTime(times, ms);
    earliestMs = Math.min(earliestMs ?? ms, ms);
    latestMs = Math.max(latestMs ?? ms, ms);
    if (ms < INTERVAL_MS) early++;
    if (ms >= lastMomentMs) lastMoment++;
    const bin = Math.min(bins.length - 1, Math.max(0, Math.floor(ms / binMsOf(asked))));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return { answers, times, earliestMs, latestMs, early, bins, lastMoment };
}

/** The figures of several quizzes, with those of one more. */
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

/** What a report says of when the answers to a quiz came. */
export type QuizTimes = Pick<QuizReport, 'answerTimes' | 'lastMomentShare'>;

export function quizTimesOf(figures: QuizFigures, asked: Asked): QuizTimes {
  const { answers, lastMoment } = figures;
  return {
    answerTimes: answerTimesOf(figures, asked),
    lastMomentShare: answers === 0 ? 0 : lastMoment / answers,
  };
}

function answerTimesOf({ times, bins }: QuizFigures, asked: Asked): AnswerTimes | null {
  const median = quantile(times, 0.5);
  const p90 = quantile(times, 0.9);
  if (median === null || p90 === null) return null;
  return { median, p90, histogram: { binMs: binMsOf(asked), counts: [...bins] } };
}

/** What all answers say of how fair the show was; null when there are none. */
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

function windowMs({ toldInterval, closeInterval }: Asked): number {
  return Math.max(INTERVAL_MS, intervalStartMs(closeInterval - toldInterval));
}

/** Whole intervals, so that a bar begins with one. */
function binMsOf(asked: Asked): number {
  return Math.ceil(windowMs(asked) / ANSWER_TIME_BINS / INTERVAL_MS) * INTERVAL_MS;
}
