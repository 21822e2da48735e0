import { GOODS } from '../../crowd/phrases.ts';
import { TRIVIA, type Trivia } from '../../crowd/trivia.ts';
import type { Reveal } from '../../protocol/quizzes.ts';

export type Cue =
  | {
      readonly kind: 'ask';
      readonly trivia: Trivia;
      readonly durationMs: number;
      readonly reveal: Reveal;
    }
  | { readonly kind: 'reveal' }
  | { readonly kind: 'request-winners' }
  | { readonly kind: 'event'; readonly type: string; readonly data: Record<string, unknown> };

export interface TimedCue {
  /** Since the start of the show. */
  readonly atMs: number;
  readonly cue: Cue;
}

/** Quizzes in a game: a winners round follows the last one. */
export const GAME_QUIZZES = 3;
/** The shortest period of quizzes that leaves time for a quiz, its results and the winners. */
export const QUIZ_EVERY_MIN_MS = 3_000;

// Duration of a quiz, and times of the reveal and the winners request: shares of the quiz period.
const OPEN_SHARE = 0.5;
const REVEAL_SHARE = 0.65;
const WINNERS_SHARE = 0.75;

/**
 * The cues of the quiz with this number, from 0: the quiz, which is revealed manually every fourth
 * time, an event in between, and a winners round after every third quiz.
 */
export function cuesOf(number: number, quizEveryMs: number): TimedCue[] {
  const startMs = number * quizEveryMs;
  const isManual = number % 4 === 3;
  const cues: TimedCue[] = [];
  const at = (share: number, cue: Cue) => {
    cues.push({ atMs: Math.round(startMs + share * quizEveryMs), cue });
  };
  at(0, {
    kind: 'ask',
    trivia: TRIVIA[number % TRIVIA.length] as Trivia,
    durationMs: Math.max(1_000, Math.round(OPEN_SHARE * quizEveryMs)),
    reveal: isManual ? 'manual' : 'auto',
  });
  at(0.2 + 0.1 * (number % 3), interludeOf(number));
  if (isManual) at(REVEAL_SHARE, { kind: 'reveal' });
  if (number % GAME_QUIZZES === GAME_QUIZZES - 1) at(WINNERS_SHARE, { kind: 'request-winners' });
  return cues;
}

function interludeOf(number: number): Cue {
  const order = 1_001 + number;
  if (number % 3 === 0) {
    const text = `${GOODS[number % GOODS.length]}, order ${order}`;
    return { kind: 'event', type: 'purchase', data: { name: 'Host', text } };
  }
  if (number % 3 === 1) return { kind: 'event', type: 'discount', data: { count: 5 } };
  return { kind: 'event', type: 'caption', data: { text: `Question ${number + 2} is next` } };
}
