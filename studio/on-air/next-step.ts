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
  if (stream.status === 'CREATED') return { kind: 'start' };
  // Also after the end of the show (SPEC P-26).
  if (quiz?.state === 'closed' && quiz.reveal === 'manual') return { kind: 'reveal', quiz };
  if (stream.status === 'ENDED') return { kind: 'over' };
  if (quiz?.state === 'open') return { kind: 'wait', quiz };
  const next = quizzes.find(({ id, state }) => state === 'draft' && id !== quiz?.id);
  return next ? { kind: 'publish', quiz: next } : { kind: 'nothing' };
}

/** A key that changes when the action of the button changes. */
export function stepKeyOf(step: NextStep): string {
  return 'quiz' in step ? `${step.kind} ${step.quiz.id}` : step.kind;
}

/**
 * Why winners cannot be announced now; null: they can. Without a quiz since the last round every viewer would win
 * (SPEC W-7), so a second press must not open one.
 */
export function winnersBlocker(state: Pick<LiveState, 'stream' | 'quiz' | 'round'>): string | null {
  const { stream, quiz, round } = state;
  const { blockers } = texts.next;
  if (stream.status !== 'STREAMING') return blockers.notLive;
  if (round?.state === 'open') return blockers.counting;
  if (!quiz) return blockers.noQuiz;
  if (quiz.state === 'open') return blockers.quizOpen;
  if (quiz.state === 'closed') return blockers.quizClosed;
  if (round && (quiz.created ?? 0) <= round.requested) {
    return `${texts.next.lastRound(round.count ?? 0)} ${blockers.noQuiz}`;
  }
  return null;
}
