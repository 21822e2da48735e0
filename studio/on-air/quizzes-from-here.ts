import type { StudioQuiz } from '../../protocol/studio.ts';

type Listed = Pick<StudioQuiz, 'id' | 'state'>;

/**
 * The quiz on screen, then the drafts in their order: what is still to come of a rundown.
 * @param onScreen the quiz published last; null: none
 */
export function quizzesFromHere<Quiz extends Listed>(
  quizzes: readonly Quiz[],
  onScreen: Listed | null,
): Quiz[] {
  const current = quizzes.filter(({ id }) => id === onScreen?.id);
  const drafts = quizzes.filter(({ id, state }) => state === 'draft' && id !== onScreen?.id);
  return [...current, ...drafts];
}
