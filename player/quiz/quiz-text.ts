import type { AnswerOutcome, ViewerQuiz, Winners } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';

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

const ANSWER_STATUS: Record<AnswerOutcome | 'sending', QuizStatus> = {
  sending: { tone: 'plain', text: texts.quiz.sending },
  counted: { tone: 'good', text: texts.quiz.counted },
  'other-answer': { tone: 'plain', text: texts.quiz.otherAnswer },
  'too-late': { tone: 'bad', text: texts.quiz.tooLate },
  unknown: { tone: 'bad', text: texts.quiz.unconfirmed },
};

/** @returns the status in the head of the quiz card */
export function quizStatus(quiz: ViewerQuiz, phase: QuizPhase): QuizStatus {
  const { choice, outcome, results } = quiz;
  if (results) return resultStatus(quiz, results.answer);
  if (choice !== null) return ANSWER_STATUS[outcome ?? 'sending'];
  if (phase === 'closed') return { tone: 'plain', text: texts.quiz.resultsSoon };
  if (phase === 'replayed') {
    return { tone: 'plain', text: texts.quiz.replayed };
  }
  return { tone: 'plain', text: texts.quiz.pickOne };
}

function resultStatus({ choice, outcome }: ViewerQuiz, answer: string): QuizStatus {
  if (choice === null) return { tone: 'plain', text: texts.quiz.notAnswered };
  if (outcome === 'too-late' || outcome === 'other-answer') return ANSWER_STATUS[outcome];
  if (choice !== answer) return { tone: 'bad', text: texts.quiz.wrong };
  if (outcome === 'counted') return { tone: 'good', text: texts.quiz.correct };
  return { tone: 'plain', text: texts.quiz.correctUnconfirmed };
}

/** @returns whether the viewer can still win the round; null: this browser does not know */
export function roundText({ isWinning }: Pick<Winners, 'isWinning'>): string | null {
  if (isWinning === null) return null;
  return isWinning ? texts.quiz.canWin : texts.quiz.isOut;
}

export interface WinnersText {
  readonly title: string;
  /** The second line; empty: none. */
  readonly more: string;
}

/**
 * @param count the number of winners; null while they are counted
 * @param isOver whether the show is over, so that no other round follows
 */
export function winnersText(count: number | null, hasWon: boolean, isOver: boolean): WinnersText {
  const { winners } = texts;
  if (count === null) return { title: winners.whoWon, more: winners.counting };
  if (hasWon) {
    return { title: winners.youWon, more: count <= 1 ? winners.only : winners.oneOf(count) };
  }
  const next = isOver ? [] : [winners.nextRound];
  if (count === 0) return { title: winners.nobody, more: next.join(' ') };
  return {
    title: winners.others(count),
    more: [winners.wellPlayed, ...next].join(' '),
  };
}
