import type { AnswerOutcome, ViewerQuiz, Winners } from '../../sdk/viewer.ts';

/** `closed`: time is up, results are to come; `replayed`: the same in a replay. */
export type QuizPhase = 'open' | 'answered' | 'closed' | 'replayed' | 'revealed';

export interface QuizStatus {
  readonly tone: 'plain' | 'good' | 'bad';
  readonly text: string;
}

/**
 * @param remainingMs the time left to answer, ms
 * @param isOver whether the show is over, so that this is a replay
 */
export function phaseOf(quiz: ViewerQuiz, remainingMs: number, isOver: boolean): QuizPhase {
  const { choice, results } = quiz;
  if (results) return 'revealed';
  if (remainingMs <= 0) return isOver ? 'replayed' : 'closed';
  return choice === null ? 'open' : 'answered';
}

const UNCONFIRMED = 'We could not confirm your answer. It may or may not count.';

const ANSWER_STATUS: Record<AnswerOutcome | 'sending', QuizStatus> = {
  sending: { tone: 'plain', text: 'Sending your answer…' },
  counted: { tone: 'good', text: 'Answer locked in!' },
  'other-answer': { tone: 'plain', text: 'Your earlier answer from another device or tab counts.' },
  'too-late': { tone: 'bad', text: 'Your answer came too late and does not count.' },
  unknown: { tone: 'bad', text: UNCONFIRMED },
};

/** @returns the status in the head of the quiz card */
export function quizStatus(quiz: ViewerQuiz, phase: QuizPhase): QuizStatus {
  const { choice, outcome, results } = quiz;
  if (results) return resultStatus(quiz, results.answer);
  if (choice !== null) return ANSWER_STATUS[outcome ?? 'sending'];
  if (phase === 'closed') return { tone: 'plain', text: 'Results coming soon.' };
  if (phase === 'replayed') {
    return { tone: 'plain', text: 'Viewers answered this during the live show.' };
  }
  return { tone: 'plain', text: 'Pick one. You cannot change it later.' };
}

function resultStatus({ choice, outcome }: ViewerQuiz, answer: string): QuizStatus {
  if (choice === null) return { tone: 'plain', text: 'You did not answer this one.' };
  if (outcome === 'too-late' || outcome === 'other-answer') return ANSWER_STATUS[outcome];
  if (choice !== answer) return { tone: 'bad', text: 'Not this time.' };
  if (outcome === 'counted') return { tone: 'good', text: 'Correct!' };
  return { tone: 'plain', text: `Correct. ${UNCONFIRMED}` };
}

/** @returns whether the viewer can still win the round; null: this browser does not know */
export function roundText({ isWinning }: Pick<Winners, 'isWinning'>): string | null {
  if (isWinning === null) return null;
  return isWinning
    ? 'All your answers so far are correct. You can still win!'
    : 'You are out of this round. Keep playing: the next round is open to everyone.';
}

export interface WinnersText {
  readonly title: string;
  /** The second line; empty: none. */
  readonly more: string;
}

/** What names a winner's code. */
export const CODE_LABEL = 'Your code:';

/**
 * @param count the number of winners; null while they are counted
 * @param isOver whether the show is over, so that no other round follows
 */
export function winnersText(count: number | null, hasWon: boolean, isOver: boolean): WinnersText {
  if (count === null) return { title: 'Who won?', more: 'Counting the winners…' };
  if (hasWon) {
    const more =
      count <= 1 ? 'You are the only winner.' : `You are one of ${formatCount(count)} winners.`;
    return { title: 'You won!', more };
  }
  const next = isOver ? '' : ' If there is another round, everyone can win it.';
  if (count === 0) return { title: 'Nobody won.', more: next.trim() };
  return {
    title: count === 1 ? 'One viewer won.' : `${formatCount(count)} viewers won.`,
    more: `Well played.${next}`,
  };
}

const formatCount = (count: number): string => count.toLocaleString('en');
