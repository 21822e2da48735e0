import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { texts } from './texts.ts';

/** What the big button does next. */
export type NextStep =
  | { readonly kind: 'start' }
  | { readonly kind: 'publish'; readonly quiz: StudioQuiz }
  /** A quiz is open; the button waits until it closes. */
  | { readonly kind: 'wait'; readonly quiz: StudioQuiz }
  | { readonly kind: 'reveal'; readonly quiz: StudioQuiz }
  /** No draft is left. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'over' };

/** @param quizzes the quizzes of the show, in order */
export function nextStep(
  { stream, quiz }: Pick<LiveState, 'stream' | 'quiz'>,
  quizzes: readonly StudioQuiz[],
): NextStep {
  const hasEnded = stream.status === 'ENDED';
  if (stream.status === 'CREATED') return { kind: 'start' };
  if (quiz?.state === 'open' && !hasEnded) return { kind: 'wait', quiz };
  const unrevealed = quiz && isUnrevealed(quiz) ? quiz : earlierUnrevealed(quiz, quizzes);
  // Also after the end of the show (SPEC P-26).
  if (unrevealed) return { kind: 'reveal', quiz: unrevealed };
  if (hasEnded) return { kind: 'over' };
  const next = quizzes.find(({ id, state }) => state === 'draft' && id !== quiz?.id);
  return next ? { kind: 'publish', quiz: next } : { kind: 'nothing' };
}

const isUnrevealed = ({ state, reveal }: StudioQuiz) => state === 'closed' && reveal === 'manual';

/** A quiz before the latest one whose results are not shown: a program, or two hosts, published both. */
function earlierUnrevealed(
  latest: StudioQuiz | null,
  quizzes: readonly StudioQuiz[],
): StudioQuiz | null {
  // Of the latest the list may have an older state.
  return quizzes.find((quiz) => quiz.id !== latest?.id && isUnrevealed(quiz)) ?? null;
}

/** A key that changes when the action of the button changes. */
export function stepKeyOf(step: NextStep): string {
  return 'quiz' in step ? `${step.kind} ${step.quiz.id}` : step.kind;
}

/**
 * Why winners cannot be announced now; null: they can. Without a quiz since the last round every viewer would win
 * (SPEC W-7), so a second press must not open one.
 */
export function winnersBlocker(
  { stream, quiz, round }: Pick<LiveState, 'stream' | 'quiz' | 'round'>,
  quizzes: readonly StudioQuiz[],
): string | null {
  const { blockers } = texts.next;
  if (stream.status !== 'STREAMING') return blockers.notLive;
  if (round?.state === 'open') return blockers.counting;
  if (!quiz) return blockers.noQuiz;
  if (quiz.state === 'open') return blockers.quizOpen;
  if (quiz.state === 'closed' || earlierUnrevealed(quiz, quizzes)) return blockers.quizClosed;
  if (round && (quiz.created ?? 0) <= round.requested) {
    return `${texts.next.lastRound(round.count ?? 0)} ${blockers.noQuiz}`;
  }
  return null;
}
