import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { ReadyReport, RoundReport } from '../../../protocol/report.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import {
  type AnswerFigures,
  type AnswerWindow,
  emptyQuizFigures,
  fairnessOf,
  NO_ANSWERS,
  type QuizFigures,
  type QuizTimes,
  quizTimesOf,
  withQuiz,
} from './answer-figures.ts';
import { type FeedFigures, NO_FIGURES, type Scope } from './feed-figures.ts';

/** A quiz of a finished show. `answer` is an index into `choices`; `counts` has their order. */
export interface ShowQuiz extends AnswerWindow {
  readonly id: string;
  /** Short key that answers refer to. */
  readonly number: number;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly counts: readonly number[];
}

/** The data of a finished show that needs no counting. */
export interface Show {
  readonly started: number | null;
  readonly ended: number;
  readonly scope: Scope;
  /** In the order they were published. */
  readonly quizzes: readonly ShowQuiz[];
  readonly rounds: readonly RoundReport[];
}

/**
 * The progress of a report. Stored as JSON, so that any node can continue it; field names must stay.
 * Its size is bounded for any size of show.
 */
export interface Progress {
  readonly scope: Scope;
  /** The next interval to add; null when all are added. */
  readonly nextInterval: number | null;
  readonly feed: FeedFigures;
  readonly viewers: number;
  /** Viewers up to this seat are counted; null when all are. */
  readonly afterSeat: number | null;
  /** Results of the quizzes that are counted, in the order of the show. */
  readonly quizzes: readonly QuizTimes[];
  readonly answers: AnswerFigures;
  /** Figures of the next quiz from its answers up to this seat; null when none are counted. */
  readonly current: { readonly afterSeat: number; readonly figures: QuizFigures } | null;
}

/** The next page of work. */
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

export function initialProgress({ scope }: Show): Progress {
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
  return {
    do: 'answers',
    quiz,
    ...(current ?? { afterSeat: -1, figures: emptyQuizFigures(quiz) }),
  };
}

/** The progress after a page of answers. @param lastSeat null after the last page of the quiz */
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

/** The completed share in [0, 1]: intervals count for one half, quizzes for the other. */
export function shareDone(show: Show, progress: Progress): number {
  const { from, to } = progress.scope;
  const next = progress.nextInterval ?? to + 1;
  const intervals = (next - from) / (to - from + 1);
  const quizzes =
    show.quizzes.length === 0 ? intervals : progress.quizzes.length / show.quizzes.length;
  return Math.min(1, Math.max(0, (intervals + quizzes) / 2));
}

/** The stored part of a report; the address of the recording depends on the request. */
export type StoredReport = Omit<ReadyReport, 'state' | 'recording'>;

export function reportOf(show: Show, progress: Progress, madeMs: number): StoredReport {
  const { started, ended, rounds } = show;
  const { feed, scope, viewers, answers } = progress;
  return {
    made: madeMs,
    started,
    ended,
    peak: feed.peak,
    average: roundToTenth(averageOf(feed, scope)),
    uniqueViewers: viewers,
    minutesWatched: roundToTenth(feed.viewerSeconds / 60),
    audience: [...feed.audience],
    quizzes: show.quizzes.map((quiz, index) => quizReport(quiz, progress.quizzes[index])),
    rounds: [...rounds],
    chat: { lines: feed.lines, hearts: feed.hearts, discounts: feed.discounts },
    fairness: fairnessOf(answers),
  };
}

function quizReport(quiz: ShowQuiz, times: QuizTimes | undefined): StoredReport['quizzes'][number] {
  const { id, question, choices, answer, counts, toldInterval, closeInterval } = quiz;
  if (!times) throw new Error(`quiz ${id} has not been counted`);
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

/** Average viewers. In a short show the counts can cover more time than it lasted; hence the cap. */
function averageOf({ viewerSeconds, peak }: FeedFigures, scope: Scope): number {
  return Math.min(viewerSeconds / secondsOf(scope), peak?.count ?? 0);
}

function secondsOf({ from, end }: Scope): number {
  return ((end - from + 1) * INTERVAL_MS) / 1_000;
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
