import type { ViewerQuiz, Winners } from '../../sdk/viewer.ts';
import { gameWords, phaseOf, type QuizPhase, standingOf } from './quiz-words.ts';

/** What a screen reader may have to say something about. */
export interface Heard {
  readonly quiz: ViewerQuiz | null;
  readonly remainingMs: number;
  /** Whether the show is over. */
  readonly isOver: boolean;
  readonly winners: Pick<Winners, 'isWinning'>;
}

/** Who has not answered is told when so much is left, s. */
const WARNINGS_S = [10, 5];
// Until then a question and its choices are read out.
const READ_OUT_MS = 5_000;

/** @returns what is said, now that it is otherwise than before; null: nothing new */
export function voiceOf(before: Heard | null, now: Heard): string | null {
  const { quiz } = now;
  if (!quiz) return null;
  const was = before?.quiz?.quiz.id === quiz.quiz.id ? before : null;
  const phase = phaseOf(quiz, now.remainingMs, now.isOver);
  if (!was?.quiz) return firstWords(now, quiz, phase);
  const phaseBefore = phaseOf(was.quiz, was.remainingMs, was.isOver);
  if (phase === 'revealed') return phaseBefore === 'revealed' ? null : resultWords(now, quiz);
  if (quiz.choice !== was.quiz.choice || quiz.outcome !== was.quiz.outcome) {
    return `${chosenWords(quiz)}${standingOf(quiz, phase).words}`;
  }
  return phase === 'closed' && phaseBefore !== 'closed' ? closedWords(quiz, phase) : null;
}

/**
 * @param saidMs how much was left when something was said last
 * @returns how much is left to answer, now that it is little; null: nothing is to be said of it
 */
export function warningOf(before: Heard | null, now: Heard, saidMs: number): string | null {
  const { quiz, remainingMs, isOver } = now;
  if (!quiz || before?.quiz?.quiz.id !== quiz.quiz.id) return null;
  if (phaseOf(quiz, remainingMs, isOver) !== 'open') return null;
  const seconds = WARNINGS_S.find(
    (s) => remainingMs <= s * 1_000 && before.remainingMs > s * 1_000,
  );
  const isRead = saidMs - remainingMs >= READ_OUT_MS;
  return seconds && isRead ? `${seconds} seconds left.` : null;
}

function firstWords(now: Heard, quiz: ViewerQuiz, phase: QuizPhase): string {
  const { question, order } = quiz.quiz;
  if (phase === 'revealed') return `${question} ${resultWords(now, quiz)}`;
  if (phase !== 'open') return `Quiz: ${question} ${closedWords(quiz, phase)}`;
  const seconds = Math.ceil(now.remainingMs / 1_000);
  const choices = order.map((choice, index) => `${index + 1}: ${choice}`).join(', ');
  return `Quiz: ${question} ${choices}. ${seconds} seconds.`;
}

/** Of a quiz that cannot be answered any more, or that was. */
function closedWords(quiz: ViewerQuiz, phase: QuizPhase): string {
  const { words } = standingOf(quiz, phase);
  return phase === 'closed' ? `Time is up. ${words}` : words;
}

function chosenWords({ choice, outcome }: ViewerQuiz): string {
  return choice !== null && outcome === null ? `${choice} is chosen. ` : '';
}

function resultWords({ winners }: Heard, { quiz, choice, outcome, results }: ViewerQuiz): string {
  if (!results) return '';
  const { answer, choices } = results;
  const correct = `The answer is ${answer}, chosen by ${choices[answer]?.percentage ?? 0} percent.`;
  const standing = standingOf({ quiz, choice, outcome, results }, 'revealed').words;
  const own = choice === null || choice === answer ? '' : ` You chose ${choice}.`;
  return [correct + own, standing, gameWords(winners)].filter(Boolean).join(' ');
}
