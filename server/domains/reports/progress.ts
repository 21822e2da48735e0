import type { RoundReport } from '../../../protocol/report.ts';
import {
  type AnswerFigures,
  type AnswerWindow,
  emptyQuizFigures,
  NO_ANSWERS,
  type QuizFigures,
  type QuizTimes,
  quizTimesOf,
  withQuiz,
} from './answer-figures.ts';
import { type FeedFigures, NO_FIGURES, type Scope } from './feed-figures.ts';

/** A quiz of a finished show, without its texts: those of 2,000 quizzes took the reader of SQLite 0.3 s. */
export interface ShowQuiz extends AnswerWindow {
  /** Short key that answers refer to. */
  readonly number: number;
}

/** The parts of a report that are stored. Field names must stay, as in `Progress`. */
export interface WrittenParts {
  readonly count: number;
  /** When the report was made, Unix ms. */
  readonly made: number;
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
  /** Absent before the first. */
  readonly written?: WrittenParts;
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
  | { readonly do: 'write'; readonly part: number }
  | { readonly do: 'finish'; readonly parts: number };

/** Quizzes of a part of a report: 20 of the longest have 400 KB, which take the event loop 4 ms. */
const PART_QUIZZES = 20;

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
  if (!quiz) return nextPart(show, progress);
  return {
    do: 'answers',
    quiz,
    ...(current ?? { afterSeat: -1, figures: emptyQuizFigures(quiz) }),
  };
}

function nextPart(show: Show, { written }: Progress): Step {
  const part = written?.count ?? 0;
  return part < partCount(show) ? { do: 'write', part } : { do: 'finish', parts: part };
}

/** The number of parts of a report. */
export const partCount = ({ quizzes }: Show) =>
  Math.max(1, Math.ceil(quizzes.length / PART_QUIZZES));

/** The quizzes of a part, with what was counted of each. */
export function quizzesOfPart(show: Show, progress: Progress, part: number) {
  const first = part * PART_QUIZZES;
  const quizzes = show.quizzes.slice(first, first + PART_QUIZZES);
  return quizzes.map((quiz, index) => ({ quiz, times: progress.quizzes[first + index] }));
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
