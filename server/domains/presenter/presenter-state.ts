import type { PresenterQuiz, PresenterState } from '../../../protocol/presenter.ts';
import type { LiveSnapshot } from '../live/live-shows.ts';
import { choiceCounts, isRoundOnScreen } from '../quizzes/quiz-rules.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type { WinnerCode } from '../quizzes/winner-code.ts';

/**
 * The state of a show for the presenter display. Apart from counts it contains nothing that viewers
 * must not know yet, since viewers may see the display in the video.
 */
export function presenterStateOf(
  { nowMs, show, count, answerCounts }: LiveSnapshot,
  winnerCode: WinnerCode,
): PresenterState {
  const { stream, quiz } = show;
  return {
    now: nowMs,
    stream: { id: stream.id, title: stream.title, status: stream.status },
    count,
    quiz: quiz && quizOf(quiz, answerCounts),
    winners: winnersOf(show, winnerCode),
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

/** The latest winners round; null once a newer quiz is published. Names that moderators hid are left out. */
function winnersOf(
  { stream, round, quiz, winners }: LiveSnapshot['show'],
  winnerCode: WinnerCode,
): PresenterState['winners'] {
  if (!round || !isRoundOnScreen(round, quiz)) return null;
  const first = winners.map(({ seat, name, isModerated }) => ({
    code: winnerCode(stream.id, seat),
    name: isModerated ? null : name,
  }));
  return { count: round.count, first };
}
