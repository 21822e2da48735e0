import { intervalAt } from '../../../protocol/interval.ts';
import type { QuizState, Reveal } from '../../../protocol/quizzes.ts';
import type { AnswerDecision } from '../../../server/domains/quizzes/quiz-rules.ts';

// A second, simple implementation of the quiz rules, with which model tests compare the service.

export interface PlainQuiz {
  readonly id: string;
  readonly streamId: string;
  state: QuizState;
  question: string;
  choices: string[];
  answer: string;
  duration: number;
  reveal: Reveal;
  created: number | null;
  closeInterval: number | null;
  counts: number[] | null;
  /** The index of the choice of each seat that answered, by seat. */
  readonly answers: Map<number, number>;
}

/** An event as viewers receive it. */
export interface PlainEvent {
  readonly type: string;
  readonly data: unknown;
}

/** Creates a draft. */
export function plainDraft(
  quiz: Omit<PlainQuiz, 'state' | 'created' | 'closeInterval' | 'counts' | 'answers'>,
): PlainQuiz {
  const unpublished = { created: null, closeInterval: null, counts: null };
  return { ...quiz, ...unpublished, state: 'draft', answers: new Map() };
}

/** Publishes a draft. @returns its `quiz` event */
export function plainPublish(quiz: PlainQuiz, nowMs: number, allowanceMs: number): PlainEvent {
  quiz.state = 'open';
  quiz.created = nowMs;
  quiz.closeInterval = Math.ceil((nowMs + quiz.duration + allowanceMs) / 250);
  const zeros = quiz.choices.map(() => 0);
  return { type: 'quiz', data: dataOf(quiz, zeros) };
}

/** Decides on the answer of a seat at `atMs`. @param choice the index of the choice */
export function plainAnswer(
  quiz: PlainQuiz,
  seat: number,
  choice: number,
  atMs: number,
): AnswerDecision {
  const stored = quiz.answers.get(seat);
  if (stored !== undefined) return stored === choice ? 'duplicate' : 'conflict';
  if (quiz.state !== 'open' || intervalAt(atMs) >= (quiz.closeInterval ?? 0)) return 'closed';
  quiz.answers.set(seat, choice);
  return 'accepted';
}

/** Closes the quizzes that end by `interval`. @returns the results of those with `auto` reveal */
export function plainClose(quizzes: readonly PlainQuiz[], interval: number): PlainEvent[] {
  const events: PlainEvent[] = [];
  for (const quiz of quizzes) {
    if (quiz.state !== 'open' || (quiz.closeInterval ?? 0) > interval) continue;
    quiz.state = 'closed';
    quiz.counts = quiz.choices.map(
      (_, choice) => [...quiz.answers.values()].filter((answer) => answer === choice).length,
    );
    if (quiz.reveal === 'auto') events.push(plainReveal(quiz));
  }
  return events;
}

/** Reveals a closed quiz. @returns its `quiz-results` event */
export function plainReveal(quiz: PlainQuiz): PlainEvent {
  quiz.state = 'revealed';
  return {
    type: 'quiz-results',
    data: { ...dataOf(quiz, quiz.counts ?? []), answer: quiz.answer },
  };
}

function dataOf(quiz: PlainQuiz, counts: readonly number[]): Record<string, unknown> {
  const percentages = plainPercentages(counts);
  const { id, streamId, created, duration, closeInterval, question, choices } = quiz;
  const byChoice = Object.fromEntries(
    choices.map((choice, i) => [choice, { count: counts[i], percentage: percentages[i] }]),
  );
  return {
    id,
    streamId,
    created,
    duration,
    closeInterval,
    question,
    choices: byChoice,
    order: choices,
  };
}

/** Percentages that total 100, by the largest remainder method; all 0 without answers. */
function plainPercentages(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return counts.map(() => 0);
  const percentages = counts.map((count) => Math.floor((count * 100) / total));
  const remainders = counts.map((count) => (count * 100) % total);
  while (percentages.reduce((sum, percentage) => sum + percentage, 0) < 100) {
    const largest = remainders.indexOf(Math.max(...remainders));
    percentages[largest] = (percentages[largest] ?? 0) + 1;
    remainders[largest] = -1;
  }
  return percentages;
}
