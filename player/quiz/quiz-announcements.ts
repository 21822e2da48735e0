import type { ViewerQuiz, Winners } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';
import { phaseOf, type QuizPhase, quizStatus, roundText } from './quiz-text.ts';

const announcements = texts.quizAnnouncements;

/** What the announcements for screen readers depend on. */
export interface QuizState {
  readonly quiz: ViewerQuiz | null;
  readonly remainingMs: number;
  /** Whether the show is over. */
  readonly isOver: boolean;
  readonly winners: Pick<Winners, 'isWinning'>;
}

/** A viewer without an answer is warned when this much time is left, seconds. */
const WARNINGS_S = [10, 5];
// A screen reader needs this long to read a question with its choices.
const READ_OUT_MS = 5_000;

/** @returns the announcement of the change from `before` to `now`; null: nothing new */
export function announcementOf(before: QuizState | null, now: QuizState): string | null {
  const { quiz } = now;
  if (!quiz) return null;
  const previous = before?.quiz?.quiz.id === quiz.quiz.id ? before : null;
  const phase = phaseOf(quiz, now.remainingMs, now.isOver);
  if (!previous?.quiz) return questionAnnouncement(now, quiz, phase);
  const previousPhase = phaseOf(previous.quiz, previous.remainingMs, previous.isOver);
  if (phase === 'revealed') {
    return previousPhase === 'revealed' ? null : resultAnnouncement(now, quiz);
  }
  if (quiz.choice !== previous.quiz.choice || quiz.outcome !== previous.quiz.outcome) {
    return choiceText(quiz, quizStatus(quiz, phase).text);
  }
  return phase === 'closed' && previousPhase !== 'closed' ? closedText(quiz, phase) : null;
}

/**
 * @param announcedMs the time that was left at the last announcement, ms
 * @returns a warning that little time is left; null: none is due
 */
export function warningOf(
  before: QuizState | null,
  now: QuizState,
  announcedMs: number,
): string | null {
  const { quiz, remainingMs, isOver } = now;
  if (!quiz || before?.quiz?.quiz.id !== quiz.quiz.id) return null;
  if (phaseOf(quiz, remainingMs, isOver) !== 'open') return null;
  const seconds = WARNINGS_S.find(
    (s) => remainingMs <= s * 1_000 && before.remainingMs > s * 1_000,
  );
  const isReadOut = announcedMs - remainingMs >= READ_OUT_MS;
  return seconds && isReadOut ? announcements.secondsLeft(seconds) : null;
}

function questionAnnouncement(now: QuizState, quiz: ViewerQuiz, phase: QuizPhase): string {
  const { question, order } = quiz.quiz;
  if (phase === 'revealed') return `${question} ${resultAnnouncement(now, quiz)}`;
  if (phase !== 'open') return announcements.closedQuestion(question, closedText(quiz, phase));
  const seconds = Math.ceil(now.remainingMs / 1_000);
  const choices = order.map((choice, index) => announcements.choice(index + 1, choice)).join(', ');
  return announcements.question(question, choices, seconds);
}

/** The status of a quiz that this viewer cannot answer any more. */
function closedText(quiz: ViewerQuiz, phase: QuizPhase): string {
  const { text } = quizStatus(quiz, phase);
  return phase === 'closed' ? announcements.timeIsUp(text) : text;
}

/** The status, after the choice while its outcome is not known. */
function choiceText({ choice, outcome }: ViewerQuiz, status: string): string {
  if (choice === null || outcome !== null) return status;
  return `${announcements.youChose(choice)} ${status}`;
}

function resultAnnouncement({ winners }: QuizState, quiz: ViewerQuiz): string {
  const { choice, results } = quiz;
  if (!results) return '';
  const { answer, choices } = results;
  const correct = announcements.answer(answer, choices[answer]?.percentage ?? 0);
  const own = choice === null || choice === answer ? null : announcements.youChose(choice);
  const status = quizStatus(quiz, 'revealed').text;
  return [correct, own, status, roundText(winners)].filter(Boolean).join(' ');
}
