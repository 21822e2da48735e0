import type { AnswerOutcome, ViewerQuiz, Winners } from '../../sdk/viewer.ts';

/** Where a quiz is, for this viewer. */
export type QuizPhase = 'open' | 'answered' | 'closed' | 'replayed' | 'revealed';

/** Words, and what they are to the viewer. */
export interface Standing {
  readonly tone: 'plain' | 'good' | 'bad';
  readonly words: string;
}

/**
 * @param remainingMs that the viewer has to answer
 * @param isOver whether the show is: then it is seen again
 */
export function phaseOf(
  { choice, results }: ViewerQuiz,
  remainingMs: number,
  isOver: boolean,
): QuizPhase {
  if (results) return 'revealed';
  if (remainingMs <= 0) return isOver ? 'replayed' : 'closed';
  return choice === null ? 'open' : 'answered';
}

const UNKNOWN = 'The service did not answer in time. It may count or not.';

/** What is to be said of an answer before the results; `sending` while it is on its way. */
const OF_ANSWERS: Record<AnswerOutcome | 'sending', Standing> = {
  sending: { tone: 'plain', words: 'Your answer is on its way.' },
  counted: { tone: 'good', words: 'Your answer counts.' },
  'other-answer': {
    tone: 'plain',
    words: 'Your earlier answer, from elsewhere, stands.',
  },
  'too-late': { tone: 'bad', words: 'Your answer came too late. It does not count.' },
  unknown: { tone: 'bad', words: UNKNOWN },
};

/** What stands below the question. */
export function standingOf(quiz: ViewerQuiz, phase: QuizPhase): Standing {
  const { choice, outcome, results } = quiz;
  if (results) return ofResults(quiz, results.answer);
  if (choice !== null) return OF_ANSWERS[outcome ?? 'sending'];
  if (phase === 'closed') return { tone: 'plain', words: 'The results come soon.' };
  if (phase === 'replayed') return { tone: 'plain', words: 'Answers were taken during the show.' };
  return { tone: 'plain', words: 'Choose one. The first choice stands.' };
}

function ofResults({ choice, outcome }: ViewerQuiz, answer: string): Standing {
  if (choice === null) return { tone: 'plain', words: 'You did not answer this one.' };
  if (outcome === 'too-late' || outcome === 'other-answer') return OF_ANSWERS[outcome];
  if (choice !== answer) return { tone: 'bad', words: 'Not this time.' };
  if (outcome === 'counted') return { tone: 'good', words: 'Correct!' };
  return { tone: 'plain', words: `Correct. ${UNKNOWN}` };
}

/** Whether the viewer may still win; null: it cannot be said here. */
export function gameWords({ isWinning }: Pick<Winners, 'isWinning'>): string | null {
  if (isWinning === null) return null;
  return isWinning
    ? 'All your answers so far are correct: you can still win.'
    : 'You are out of this round. Play on: the next one is open to all.';
}

/** What is said of winners: a headline, and a line below it; empty: none. */
export interface WinnerWords {
  readonly title: string;
  readonly more: string;
}

/**
 * @param count how many have won; null while it is not told
 * @param isOver whether the show is: then there is no round to come
 */
export function winnerWords(count: number | null, hasWon: boolean, isOver: boolean): WinnerWords {
  if (count === null) return { title: 'Who has won?', more: 'The winners are being counted.' };
  if (hasWon) {
    const more =
      count <= 1 ? 'You are the only winner.' : `You are one of ${inFull(count)} winners.`;
    return { title: 'You have won!', more };
  }
  const next = isOver ? '' : ' Whatever round comes next is open to all.';
  if (count === 0) return { title: 'Nobody has won.', more: next.trim() };
  return {
    title: count === 1 ? 'One viewer has won.' : `${inFull(count)} viewers have won.`,
    more: `Well played.${next}`,
  };
}

const inFull = (count: number): string => count.toLocaleString('en');
