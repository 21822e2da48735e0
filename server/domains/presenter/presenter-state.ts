import type { PresenterQuiz, PresenterState } from '../../../protocol/presenter.ts';
import type { WinnersRound } from '../../../protocol/studio.ts';
import type { LiveSnapshot } from '../live/live-shows.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';

/**
 * The state of a show for the presenter display. Apart from counts it contains nothing that viewers
 * must not know yet, since viewers may see the display in the video.
 */
export function presenterStateOf({ nowMs, show, count }: LiveSnapshot): PresenterState {
  const { stream, quiz, answerCounts, round } = show;
  return {
    now: nowMs,
    stream: { id: stream.id, title: stream.title, status: stream.status },
    count,
    quiz: quiz && quizOf(quiz, answerCounts),
    winners: winnersOf(round, quiz),
  };
}

function quizOf(quiz: QuizRow, answerCounts: readonly number[] | null): PresenterQuiz | null {
  const { id, question, choices, state, created, durationMs, closeInterval } = quiz;
  if (state === 'draft' || created === null || closeInterval === null) return null;
  const counts = answerCounts ?? quiz.counts ?? choices.map(() => 0);
  const byChoice = choiceCounts(choices, counts);
  const isRevealed = state === 'revealed';
  return {
    id,
    question,
    order: [...choices],
    state,
    created,
    duration: durationMs,
    closeInterval,
    answered: counts.reduce((sum, n) => sum + n, 0),
    tally: isRevealed ? null : byChoice,
    // I-6: viewers may see the display in the video, so the answer appears with the results only.
    results: isRevealed ? { answer: choices[quiz.answer] ?? '', choices: byChoice } : null,
  };
}

/** The latest winners round; null once a newer quiz is published. */
function winnersOf(round: WinnersRound | null, quiz: QuizRow | null): PresenterState['winners'] {
  if (!round || (quiz?.created ?? 0) > round.requested) return null;
  return { count: round.count };
}
