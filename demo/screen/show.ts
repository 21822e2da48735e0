import { NO_CHECK_RESULTS } from '../../crowd/ledger/check-results.ts';
import { type EventOf, isOf } from '../../crowd/ledger/event-kinds.ts';
import type { CrowdReport } from '../../crowd/messages.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import type { Quiz } from '../../protocol/quizzes.ts';

type ReportedFigures = Omit<
  CrowdReport,
  'kind' | 'isLast' | 'present' | 'answers' | 'events' | 'counts'
>;

/** Figures before the first report. */
export const NO_FIGURES: ReportedFigures = {
  interval: null,
  arrived: 0,
  count: null,
  externalViewers: { present: 0, total: 0 },
  countTolerance: 0,
  requests: 0,
  failures: 0,
  recent: { p50Ms: 0, p99Ms: 0 },
  overall: { p50Ms: 0, p99Ms: 0 },
  chat: { messages: 0, hearts: 0, purchases: 0, discounts: 0, last: null },
  checkResults: NO_CHECK_RESULTS,
};

/** The state of the show, from which dashboard, plain lines and summary are rendered. */
export interface ShowState extends ReportedFigures {
  readonly origin: string;
  readonly streamId: string;
  /** Viewers of the crowd, present or not. */
  readonly viewers: number;
  readonly elapsedMs: number;
  /** Whether the last checks are running. */
  readonly isEnding: boolean;
  /** Counts of the last minute, one per second. */
  readonly history: readonly number[];
  readonly peak: number;
  readonly quiz: QuizState | null;
  readonly quizzes: number;
  /** Total of answers in all results so far. */
  readonly answers: number;
  readonly winners: WinnersState | null;
  readonly rounds: number;
  readonly requestsPerSecond: number;
  /** Memory of the server: once all viewers had joined, and now. */
  readonly serverBytes: { readonly full: number | null; readonly now: number } | null;
  readonly video: VideoState | null;
  /** Totals of requests at the last reports, for their rate. */
  readonly samples: readonly { readonly atMs: number; readonly requests: number }[];
}

/** The current or latest quiz. */
export interface QuizState {
  readonly number: number;
  readonly quiz: Quiz;
  /** By choice: the acknowledged answers while it is open, then the service's results. */
  readonly counts: readonly number[];
  readonly percentages: readonly number[];
  /** Null before the results. */
  readonly answer: string | null;
}

/** The current or latest winners round. `count` is null while it is open. */
export interface WinnersState {
  readonly round: number;
  readonly count: number | null;
}

/** The state of the video, as a video player sees it. */
export type VideoState =
  | { readonly state: 'starting' }
  | {
      readonly state: 'live';
      /** How long ago the newest segment ended. */
      readonly ageMs: number;
      /** Sizes of the renditions, such as `426x240`. */
      readonly sizes: readonly string[];
    }
  | { readonly state: 'failed'; readonly reason: string };

const HISTORY_MAX = 60;
// Nine reports, one per interval, span two seconds.
const SAMPLES_MAX = 9;

/** The state before the first report. */
export function newShow(
  options: Pick<ShowState, 'origin' | 'streamId' | 'viewers' | 'video'>,
): ShowState {
  return {
    ...options,
    ...NO_FIGURES,
    elapsedMs: 0,
    isEnding: false,
    history: [],
    peak: 0,
    quiz: null,
    quizzes: 0,
    answers: 0,
    winners: null,
    rounds: 0,
    requestsPerSecond: 0,
    serverBytes: null,
    samples: [],
  };
}

/** The state after a report. @param elapsedMs since the start of the show */
export function withReport(show: ShowState, report: CrowdReport, elapsedMs: number): ShowState {
  const { kind, isLast, present, answers, events, counts, ...figures } = report;
  const allSamples = [...show.samples, { atMs: elapsedMs, requests: report.requests }];
  const samples = allSamples.slice(-SAMPLES_MAX);
  const next: ShowState = {
    ...show,
    ...figures,
    elapsedMs,
    history: [...show.history, ...counts].slice(-HISTORY_MAX),
    peak: Math.max(show.peak, ...counts),
    requestsPerSecond: rateOf(samples),
    samples,
  };
  return withAnswers(events.reduce(withEvent, next), answers);
}

/** The state after a measurement of the server's memory. */
export function withMemory(show: ShowState, bytes: number): ShowState {
  const full = show.serverBytes?.full ?? (show.arrived >= show.viewers ? bytes : null);
  return { ...show, serverBytes: { full, now: bytes } };
}

/** The state after a change of the video. */
export function withVideo(show: ShowState, video: VideoState): ShowState {
  return { ...show, video };
}

function withEvent(show: ShowState, event: FeedEvent): ShowState {
  if (isOf(event, 'quiz')) {
    const number = show.quizzes + 1;
    const zeros = event.data.order.map(() => 0);
    const counters = { counts: zeros, percentages: zeros, answer: null };
    return { ...show, quizzes: number, quiz: { number, quiz: event.data, ...counters } };
  }
  if (isOf(event, 'quiz-results')) return withResults(show, event);
  if (isOf(event, 'request-quiz-winners')) {
    return { ...show, winners: { round: show.rounds + 1, count: null }, rounds: show.rounds + 1 };
  }
  if (isOf(event, 'quiz-winners')) {
    return { ...show, winners: { round: show.rounds, count: event.data.count } };
  }
  return show;
}

function withResults(show: ShowState, { data }: EventOf<'quiz-results'>): ShowState {
  const counts = data.order.map((choice) => data.choices[choice]?.count ?? 0);
  const answers = show.answers + counts.reduce((sum, count) => sum + count, 0);
  if (show.quiz?.quiz.id !== data.id) return { ...show, answers };
  const percentages = data.order.map((choice) => data.choices[choice]?.percentage ?? 0);
  return { ...show, answers, quiz: { ...show.quiz, counts, percentages, answer: data.answer } };
}

function withAnswers(show: ShowState, answers: CrowdReport['answers']): ShowState {
  const counts = show.quiz && show.quiz.answer === null ? answers[show.quiz.quiz.id] : undefined;
  if (!show.quiz || !counts) return show;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const percentages = counts.map((count) => Math.round((count / Math.max(1, total)) * 100));
  return { ...show, quiz: { ...show.quiz, counts, percentages } };
}

function rateOf(samples: ShowState['samples']): number {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last || last.atMs <= first.atMs) return 0;
  return ((last.requests - first.requests) / (last.atMs - first.atMs)) * 1_000;
}
