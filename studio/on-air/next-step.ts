import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';

/** What the big button does next. */
export type NextStep =
  | { readonly kind: 'start' }
  | { readonly kind: 'publish'; readonly quiz: StudioQuiz }
  /** A quiz is open; the button waits until it closes by itself. */
  | { readonly kind: 'wait'; readonly quiz: StudioQuiz }
  | { readonly kind: 'reveal'; readonly quiz: StudioQuiz }
  /** Nothing is prepared any more. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'over' };

/** @param quizzes of the show, in their order */
export function nextStep(
  { stream, quiz }: Pick<LiveState, 'stream' | 'quiz'>,
  quizzes: readonly StudioQuiz[],
): NextStep {
  if (stream.status === 'ENDED') return { kind: 'over' };
  if (stream.status === 'CREATED') return { kind: 'start' };
  if (quiz?.state === 'open') return { kind: 'wait', quiz };
  if (quiz?.state === 'closed' && quiz.reveal === 'manual') return { kind: 'reveal', quiz };
  const next = quizzes.find(({ id, state }) => state === 'draft' && id !== quiz?.id);
  return next ? { kind: 'publish', quiz: next } : { kind: 'nothing' };
}

/** The same for as long as the button does the same. */
export function nameOf(step: NextStep): string {
  return 'quiz' in step ? `${step.kind} ${step.quiz.id}` : step.kind;
}

/** Why the winners cannot be asked for now; null: they can. */
export function winnersBlocker({
  stream,
  quiz,
  round,
}: Pick<LiveState, 'stream' | 'quiz' | 'round'>): string | null {
  if (stream.status !== 'STREAMING') return 'The show is not on.';
  if (round?.state === 'open') return 'Winners are reporting.';
  if (quiz?.state === 'open') return 'A quiz is open.';
  if (quiz?.state === 'closed') return 'The results are not shown yet.';
  return null;
}
