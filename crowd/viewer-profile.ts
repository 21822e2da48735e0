import { intervalStartMs } from '../protocol/interval.ts';
import type { Quiz } from '../protocol/quizzes.ts';
import { triviaOf } from './trivia.ts';

/** How a viewer reads the feed: held requests, an event stream, or intervals that are over. */
export type Reading = 'held' | 'event-stream' | 'sealed';

/** What a viewer is like. */
export interface ViewerProfile {
  readonly name: string;
  readonly reading: Reading;
  /** When within each second it posts its heartbeat, ms. */
  readonly phaseMs: number;
  /** How often it knows what others know, from 0 to 1. */
  readonly skill: number;
  /** The share of a quiz's time after which it has usually answered. */
  readonly pace: number;
  /** It never leaves, so that somebody reads every interval. */
  readonly isLoyal: boolean;
  /** It looks at the count itself now and then. */
  readonly readsCount: boolean;
  /** How much later than it reads it sees what happens, ms: its picture is so late. */
  readonly lagMs: number;
  /** It answers at once, as no person can. */
  readonly isBot: boolean;
  /** The share of its answers that it sends when the quiz has closed. */
  readonly lateShare: number;
}

/** What a viewer will do about a quiz. */
export interface AnswerPlan {
  readonly delayMs: number;
  readonly choice: string;
  /** What it tries afterwards: the same answer again, or another one. */
  readonly again: { readonly delayMs: number; readonly choice: string } | null;
}

export type Random = () => number;

// Event streams go through `fetch`, which has 256 requests under way at most.
const EVENT_STREAMS_MAX = 150;
const NAMES =
  'Ada|Ben|Chloé|Dario|Esra|Finn|Grace|Hugo|Ines|Jonas|Kira|Liam|Mia|Noor|Olga|Pavel|Quinn|Rosa|Sam|Tuva|Umar|Vera|Wen|Xenia|Yara|Zoe'.split(
    '|',
  );

/** The habits of the viewer with this number, from 0. */
export function viewerProfileOf(viewer: number, random: Random): ViewerProfile {
  const isStreaming = viewer % 10 === 3 && viewer < EVENT_STREAMS_MAX * 10;
  return {
    name: NAMES[viewer % NAMES.length] ?? '',
    reading: isStreaming ? 'event-stream' : viewer % 10 === 6 ? 'sealed' : 'held',
    phaseMs: random() * 1_000,
    skill: 0.55 + 0.5 * random(),
    pace: 0.15 + 0.3 * random(),
    isLoyal: viewer === 0,
    readsCount: viewer % 20 === 0,
    lagMs: 0,
    isBot: false,
    // Only just too late; a few of the others are so by their nature.
    lateShare: 0.03,
  };
}

/** What a viewer does about a quiz that it reads now, or null when it lets it pass. */
export function planAnswer(
  quiz: Quiz,
  profile: ViewerProfile,
  nowMs: number,
  random: Random,
): AnswerPlan | null {
  if (!profile.isBot && random() < 0.06) return null;
  const leftMs = intervalStartMs(quiz.closeInterval) - nowMs;
  const delayMs = answerDelayMs(quiz, profile, leftMs, random);
  const choice = chooseAnswer(quiz, profile.skill, random);
  return { delayMs, choice, again: planAgain(quiz, choice, random) };
}

function answerDelayMs(
  { duration }: Quiz,
  { lateShare, isBot, pace }: ViewerProfile,
  leftMs: number,
  random: Random,
): number {
  if (random() < lateShare) return Math.max(0, leftMs) + 50 + 1_500 * random();
  return isBot ? 50 + 250 * random() : logNormal(duration * pace, 0.5, random);
}

function planAgain(quiz: Quiz, choice: string, random: Random): AnswerPlan['again'] {
  const kind = random();
  const delayMs = 100 + quiz.duration * random() * 0.5;
  if (kind < 0.05) return { delayMs, choice };
  const other = pick(quiz.order, random);
  return kind < 0.09 && other !== choice ? { delayMs, choice: other } : null;
}

function chooseAnswer(quiz: Quiz, skill: number, random: Random): string {
  const trivia = triviaOf(quiz.question);
  const knows = trivia && random() < skill * (1.15 - trivia.difficulty / 2);
  return knows ? trivia.answer : pick(quiz.order, random);
}

/** How long a viewer stays before it goes for a while, ms. */
export function stayMs(random: Random): number {
  return 10_000 + exponential(100_000, random);
}

/** How long it is unavailable, ms. */
export function unavailableMs(random: Random): number {
  return 3_000 + exponential(6_000, random);
}

/** How long it says nothing, ms. */
export function silenceMs(random: Random): number {
  return 1_000 + exponential(45_000, random);
}

/** One of several. */
export function pick(from: readonly string[], random: Random): string {
  return from[Math.floor(random() * from.length)] ?? '';
}

function exponential(meanMs: number, random: Random): number {
  return -meanMs * Math.log(1 - random());
}

// People's reaction times: many are quick, a few take very long.
function logNormal(medianMs: number, sigma: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp(sigma * normal);
}
