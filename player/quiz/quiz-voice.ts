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
  if (phase === 'closed' && phaseBefore !== 'closed') return closedWords(quiz, phase);
  return phase === 'open' ? warning(was.remainingMs, now.remainingMs) : null;
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

function warning(beforeMs: number, nowMs: number): string | null {
  const seconds = WARNINGS_S.find((s) => nowMs <= s * 1_000 && beforeMs > s * 1_000);
  return seconds ? `${seconds} seconds left.` : null;
}
