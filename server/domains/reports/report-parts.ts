import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { QuizReport, ReadyReport } from '../../../protocol/report.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import { fairnessOf, type QuizTimes } from './answer-figures.ts';
import type { FeedFigures, Scope } from './feed-figures.ts';
import { type Progress, partCount, quizzesOfPart, type Show, type ShowQuiz } from './progress.ts';

/** A quiz of a finished show with its texts. `answer` is an index into `choices`; `counts` has their order. */
export interface QuizResult {
  readonly id: string;
  readonly number: number;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly counts: readonly number[];
}

/** The stored members of a report; the address of the recording depends on the request. */
export type StoredReport = Omit<ReadyReport, 'state' | 'recording'>;

/**
 * A part of the JSON of a `StoredReport`; all parts joined are the whole. A report is made, stored and read in
 * parts because the largest has 40 MB, which took the event loop and the writer of SQLite 0.5 s each.
 * @param results those of `quizzesOfPart`, in any order
 */
export function reportPart(
  show: Show,
  progress: Progress,
  { part, made }: { part: number; made: number },
  results: readonly QuizResult[],
): string {
  const byNumber = new Map(results.map((result) => [result.number, result]));
  const elements = quizzesOfPart(show, progress, part).map(({ quiz, times }) =>
    JSON.stringify(quizReport(quiz, byNumber.get(quiz.number), times)),
  );
  const start = part === 0 ? startOf(show, progress, made) : ',';
  return `${start}${elements.join(',')}${part === partCount(show) - 1 ? ']}' : ''}`;
}

/** The JSON of all members, up to the elements of the last one. */
function startOf(show: Show, progress: Progress, madeMs: number): string {
  const { started, ended, rounds } = show;
  const { feed, scope, viewers, answers } = progress;
  const members: Omit<StoredReport, 'quizzes'> = {
    made: madeMs,
    started,
    ended,
    peak: feed.peak,
    average: roundToTenth(averageOf(feed, scope)),
    uniqueViewers: viewers,
    minutesWatched: roundToTenth(feed.viewerSeconds / 60),
    audience: [...feed.audience],
    rounds: [...rounds],
    chat: { lines: feed.lines, hearts: feed.hearts, discounts: feed.discounts },
    fairness: fairnessOf(answers),
  };
  return `${JSON.stringify(members).slice(0, -1)},"quizzes":[`;
}

function quizReport(
  { number, toldInterval, closeInterval }: ShowQuiz,
  result: QuizResult | undefined,
  times: QuizTimes | undefined,
): QuizReport {
  if (!result || !times) throw new Error(`quiz ${number} has not been counted`);
  const { id, question, choices, answer, counts } = result;
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
