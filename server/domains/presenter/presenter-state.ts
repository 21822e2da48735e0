import type { PresenterQuiz, PresenterState } from '../../../protocol/presenter.ts';
import type { WinnersRound } from '../../../protocol/studio.ts';
import type { LiveMoment } from '../live/live-shows.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';

/** A show as the wall behind its host has it: nothing that viewers must not know yet but counts. */
export function presenterStateOf({ nowMs, show, count }: LiveMoment): PresenterState {
  const { stream, quiz, tally, round } = show;
  return {
    now: nowMs,
    stream: { id: stream.id, title: stream.title, status: stream.status },
    count,
    quiz: quiz && quizOf(quiz, tally),
    winners: winnersOf(round, quiz),
  };
}

function quizOf(quiz: QuizRow, tally: readonly number[] | null): PresenterQuiz | null {
  const { id, question, choices, state, created, durationMs, closeInterval } = quiz;
  if (state === 'draft' || created === null || closeInterval === null) return null;
  const counts = tally ?? quiz.counts ?? choices.map(() => 0);
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
    // The guard of I-6 on a wall: it may be in the picture that viewers see.
    results: isRevealed ? { answer: choices[quiz.answer] ?? '', choices: byChoice } : null,
  };
}

/** Winners of the game that the quiz is of; once another quiz is out they are past. */
function winnersOf(round: WinnersRound | null, quiz: QuizRow | null): PresenterState['winners'] {
  if (!round || (quiz?.created ?? 0) > round.requested) return null;
  return { count: round.count };
}
