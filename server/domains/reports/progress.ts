import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { ReadyReport, RoundReport } from '../../../protocol/report.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import {
  type AnswerFigures,
  type Asked,
  fairnessOf,
  NO_ANSWERS,
  noAnswersTo,
  type QuizFigures,
  type QuizTimes,
  quizTimesOf,
  withQuiz,
} from './answer-figures.ts';
import { type FeedFigures, NO_FIGURES, type Scope } from './feed-figures.ts';

/** A quiz of a show that is over; `answer` is an index into `choices`, and `counts` are in their order. */
export interface ShowQuiz extends Asked {
  readonly id: string;
  /** Short key that answers refer to. */
  readonly number: number;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly counts: readonly number[];
}

/** A show that is over, as far as it takes no counting. */
export interface Show {
  readonly started: number | null;
  readonly ended: number;
  readonly scope: Scope;
  /** In the order they were published. */
  readonly quizzes: readonly ShowQuiz[];
  readonly rounds: readonly RoundReport[];
}

/**
 * How far a report is. It is kept as JSON, so that any node can go on with it, and its size has a
 * bound however large the show is.
 */
export interface Progress {
  readonly scope: Scope;
  /** From here on intervals are still to be looked at; null: none. */
  readonly nextInterval: number | null;
  readonly feed: FeedFigures;
  readonly viewers: number;
  /** Viewers with seats after this one are still to be counted; null: none. */
  readonly afterSeat: number | null;
  /** Of the quizzes that are done, the first of the show. */
  readonly quizzes: readonly QuizTimes[];
  readonly answers: AnswerFigures;
  /** The quiz after them, when some of its answers are counted: those of seats up to this one. */
  readonly current: { readonly afterSeat: number; readonly figures: QuizFigures } | null;
}

/** What to do next. */
export type Step =
  | { readonly do: 'intervals'; readonly next: number }
  | { readonly do: 'viewers'; readonly afterSeat: number }
  | {
      readonly do: 'answers';
      readonly quiz: ShowQuiz;
      readonly afterSeat: number;
      readonly figures: QuizFigures;
    }
  | { readonly do: 'finish' };

export function progressAtBegin({ scope }: Show): Progress {
  return {
    scope,
    nextInterval: scope.from,
    feed: NO_FIGURES,
    viewers: 0,
    afterSeat: -1,
    quizzes: [],
    answers: NO_ANSWERS,
    current: null,
  };
}

export function nextStep(show: Show, progress: Progress): Step {
  const { nextInterval, afterSeat, current } = progress;
  if (nextInterval !== null) return { do: 'intervals', next: nextInterval };
  if (afterSeat !== null) return { do: 'viewers', afterSeat };
  const quiz = show.quizzes[progress.quizzes.length];
  if (!quiz) return { do: 'finish' };
  return { do: 'answers', quiz, ...(current ?? { afterSeat: -1, figures: noAnswersTo(quiz) }) };
}

/** After a page of intervals. @param next null: it was the last */
export function afterIntervals(
  progress: Progress,
  feed: FeedFigures,
  next: number | null,
): Progress {
  return { ...progress, feed, nextInterval: next };
}

/** After a page of seats. @param lastSeat null: it was the last */
export function afterViewers(progress: Progress, count: number, lastSeat: number | null): Progress {
  return { ...progress, viewers: progress.viewers + count, afterSeat: lastSeat };
}

/** After a page of answers. @param lastSeat null: it was the last of its quiz */
export function afterAnswers(
  progress: Progress,
  quiz: ShowQuiz,
  figures: QuizFigures,
  lastSeat: number | null,
): Progress {
  if (lastSeat !== null) return { ...progress, current: { afterSeat: lastSeat, figures } };
  return {
    ...progress,
    quizzes: [...progress.quizzes, quizTimesOf(figures, quiz)],
    answers: withQuiz(progress.answers, figures),
    current: null,
  };
}

/** How much is done, of 1: the intervals are one half, the quizzes the other. */
export function shareDone(show: Show, progress: Progress): number {
  const { from, to } = progress.scope;
  const next = progress.nextInterval ?? to + 1;
  const intervals = (next - from) / (to - from + 1);
  const quizzes =
    show.quizzes.length === 0 ? intervals : progress.quizzes.length / show.quizzes.length;
  return Math.min(1, Math.max(0, (intervals + quizzes) / 2));
}

/** All of a report that is kept; where the show plays depends on who asks. */
export type KeptReport = Omit<ReadyReport, 'state' | 'recording'>;

export function reportOf(show: Show, progress: Progress, madeMs: number): KeptReport {
  const { started, ended, rounds } = show;
  const { feed, scope, viewers, answers } = progress;
  return {
    made: madeMs,
    started,
    ended,
    peak: feed.peak,
    average: oneDigit(averageOf(feed, scope)),
    uniqueViewers: viewers,
    minutesWatched: oneDigit(feed.viewerSeconds / 60),
    audience: [...feed.audience],
    quizzes: show.quizzes.map((quiz, index) => quizReport(quiz, progress.quizzes[index])),
    rounds: [...rounds],
    chat: { lines: feed.lines, hearts: feed.hearts, discounts: feed.discounts },
    fairness: fairnessOf(answers),
  };
}

function quizReport(quiz: ShowQuiz, times: QuizTimes | undefined): KeptReport['quizzes'][number] {
  const { id, question, choices, answer, counts, toldInterval, closeInterval } = quiz;
  if (!times) throw new Error(`quiz ${id} is not counted`);
  return {
    id,
    question,
    order: [...choices],
    counts: choiceCounts(choices, counts),
    answer: choices[answer] ?? '',
    correct: counts[answer] ?? 0,
    answered: counts.reduce((sum, count) => sum + count, 0),
    toldInterval,
    closeInterval,
    ...times,
  };
}

/** Viewers at a time. Of a short show the counts may stand for more time than it had. */
function averageOf({ viewerSeconds, peak }: FeedFigures, scope: Scope): number {
  return Math.min(viewerSeconds / secondsOf(scope), peak?.count ?? 0);
}

function secondsOf({ from, end }: Scope): number {
  return ((end - from + 1) * INTERVAL_MS) / 1_000;
}

function oneDigit(value: number): number {
  return Math.round(value * 10) / 10;
}
