import { intervalStartMs } from '../protocol/interval.ts';
import type { Quiz } from '../protocol/quizzes.ts';
import { triviaOf } from './trivia.ts';

/** How a viewer reads the feed: by long polls, an event stream, or requests of sealed intervals. */
export type FeedMode = 'long-poll' | 'event-stream' | 'sealed';

/** The behavior of a simulated viewer. */
export interface ViewerProfile {
  readonly name: string;
  readonly feedMode: FeedMode;
  /** When within each second it posts its heartbeat, ms. */
  readonly phaseMs: number;
  /** Knowledge of trivia: scales the chance to know an answer; may slightly exceed 1. */
  readonly skill: number;
  /** Median answer time as a share of the quiz's duration. */
  readonly pace: number;
  /** Never leaves, so that the crowd reads every interval. */
  readonly isPermanent: boolean;
  /** Sometimes requests the viewer count. */
  readonly readsCount: boolean;
  /** Delay of its reaction to an event, ms; simulates the latency of its video. */
  readonly lagMs: number;
  /** Answers faster than a person can. */
  readonly isBot: boolean;
  /** Share of its answers that it sends after the close. */
  readonly lateShare: number;
}

/** When and what a viewer will answer to a quiz. */
export interface AnswerPlan {
  readonly delayMs: number;
  readonly choice: string;
  /** A second attempt: the same answer again, or another one. */
  readonly retry: { readonly delayMs: number; readonly choice: string } | null;
}

export type Random = () => number;

// Event streams use `fetch`, which allows 256 concurrent requests.
const EVENT_STREAMS_MAX = 150;
const NAMES =
  'Ada|Ben|Chloé|Dario|Esra|Finn|Grace|Hugo|Ines|Jonas|Kira|Liam|Mia|Noor|Olga|Pavel|Quinn|Rosa|Sam|Tuva|Umar|Vera|Wen|Xenia|Yara|Zoe'.split(
    '|',
  );

/** The profile of the viewer with this number, from 0. */
export function viewerProfileOf(viewer: number, random: Random): ViewerProfile {
  const usesEventStream = viewer % 10 === 3 && viewer < EVENT_STREAMS_MAX * 10;
  return {
    name: NAMES[viewer % NAMES.length] ?? '',
    feedMode: usesEventStream ? 'event-stream' : viewer % 10 === 6 ? 'sealed' : 'long-poll',
    phaseMs: random() * 1_000,
    skill: 0.55 + 0.5 * random(),
    pace: 0.15 + 0.3 * random(),
    isPermanent: viewer === 0,
    readsCount: viewer % 20 === 0,
    lagMs: 0,
    isBot: false,
    // Sent just after the close on purpose; other answers can be late because of their random delay.
    lateShare: 0.03,
  };
}

/** Plans the answer to a quiz that is read now; null when the viewer skips it. */
export function planAnswer(
  quiz: Quiz,
  profile: ViewerProfile,
  nowMs: number,
  random: Random,
): AnswerPlan | null {
  if (!profile.isBot && random() < 0.06) return null;
  const remainingMs = intervalStartMs(quiz.closeInterval) - nowMs;
  const delayMs = answerDelayMs(quiz, profile, remainingMs, random);
  const choice = chooseAnswer(quiz, profile.skill, random);
  return { delayMs, choice, retry: planRetry(quiz, choice, random) };
}

function answerDelayMs(
  { duration }: Quiz,
  { lateShare, isBot, pace }: ViewerProfile,
  remainingMs: number,
  random: Random,
): number {
  if (random() < lateShare) return Math.max(0, remainingMs) + 50 + 1_500 * random();
  return isBot ? 50 + 250 * random() : logNormal(duration * pace, 0.5, random);
}

function planRetry(quiz: Quiz, choice: string, random: Random): AnswerPlan['retry'] {
  const draw = random();
  const delayMs = 100 + quiz.duration * random() * 0.5;
  if (draw < 0.05) return { delayMs, choice };
  const other = pick(quiz.order, random);
  return draw < 0.09 && other !== choice ? { delayMs, choice: other } : null;
}

function chooseAnswer(quiz: Quiz, skill: number, random: Random): string {
  const trivia = triviaOf(quiz.question);
  const knows = trivia && random() < skill * (1.15 - trivia.difficulty / 2);
  return knows ? trivia.answer : pick(quiz.order, random);
}

/** How long a viewer stays before an absence, ms. */
export function stayMs(random: Random): number {
  return 10_000 + exponential(100_000, random);
}

export function absenceMs(random: Random): number {
  return 3_000 + exponential(6_000, random);
}

/** Pause between chat messages, ms. */
export function chatPauseMs(random: Random): number {
  return 1_000 + exponential(45_000, random);
}

export function pick(from: readonly string[], random: Random): string {
  return from[Math.floor(random() * from.length)] ?? '';
}

function exponential(meanMs: number, random: Random): number {
  return -meanMs * Math.log(1 - random());
}

// The usual distribution of reaction times: many are short, a few very long.
function logNormal(medianMs: number, sigma: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp(sigma * normal);
}
