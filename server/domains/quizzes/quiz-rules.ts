import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { ChoiceCount, Quiz, QuizResults, QuizState } from '../../../protocol/quizzes.ts';
import { percentages } from './percentages.ts';

/** A published quiz, as its events tell of it; `created` is Unix ms, `answer` an index of `choices`. */
export interface AskedQuiz {
  readonly id: string;
  readonly streamId: string;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly durationMs: number;
  readonly created: number;
  readonly closeInterval: number;
}

/** The interval at which a quiz stops accepting answers: the first to start at its end or later. */
export function closeIntervalOf(times: {
  createdMs: number;
  durationMs: number;
  latencyAllowanceMs: number;
}): number {
  return Math.ceil((times.createdMs + times.durationMs + times.latencyAllowanceMs) / INTERVAL_MS);
}

/** Whether a quiz takes a new answer that arrives in this interval. */
export function isOpenAt(
  quiz: { state: QuizState; closeInterval: number },
  arrivalInterval: number,
): boolean {
  return quiz.state === 'open' && arrivalInterval < quiz.closeInterval;
}

/**
 * What becomes of a viewer's answer: `record` it; it is the `same` as the one
 * recorded, which is a yes also after the close, so that a retry hears the truth; it is `other` than
 * the one recorded; or none is recorded and the quiz is `closed`.
 *
 * `state` is that of the database in the transaction that records: an answer that was in time but comes
 * after the counting is refused, whatever its `arrivalInterval`. Choices are indices.
 */
export function decideAnswer(answer: {
  recordedChoice: number | null;
  choice: number;
  state: QuizState;
  arrivalInterval: number;
  closeInterval: number;
}): 'record' | 'same' | 'other' | 'closed' {
  if (answer.recordedChoice !== null) {
    return answer.recordedChoice === answer.choice ? 'same' : 'other';
  }
  return isOpenAt(answer, answer.arrivalInterval) ? 'record' : 'closed';
}

/**
 * Why winners cannot be asked for yet, one sentence for each quiz of the game in the way; empty when
 * they can. Until a quiz is revealed, a winner's yes or no would tell its answer (W-3, I-6).
 */
export function gameBlockers(
  game: readonly { readonly state: QuizState; readonly question: string }[],
): string[] {
  return game.flatMap(({ state, question }) => {
    if (state === 'open') return [`The quiz "${question}" is still open.`];
    if (state === 'closed') return [`The quiz "${question}" is not revealed yet.`];
    return [];
  });
}

/**
 * Counts under their choices, as the interface carries them, with their percentages.
 * The map has no prototype, so every text can be a key. One that looks like an integer still moves
 * to the front, which is why events also have `order`.
 * @throws RangeError when there is not one count for each choice
 */
export function choiceCounts(
  choices: readonly string[],
  counts: readonly number[],
): Record<string, ChoiceCount> {
  if (counts.length !== choices.length) {
    throw new RangeError(`${counts.length} counts for ${choices.length} choices`);
  }
  const shares = percentages(counts);
  const byChoice: Record<string, ChoiceCount> = Object.create(null);
  for (const [index, choice] of choices.entries()) {
    byChoice[choice] = { count: counts[index] as number, percentage: shares[index] as number };
  }
  return byChoice;
}

/** The data of a `quiz` event: a new quiz, without its answer and with nothing counted (F-29). */
export function quizEvent(quiz: AskedQuiz): Quiz {
  return asked(
    quiz,
    quiz.choices.map(() => 0),
  );
}

/**
 * The data of a `quiz-results` event: the quiz with its answer and its final counts, which are in
 * the order of `choices` (F-32).
 */
export function quizResultsEvent(quiz: AskedQuiz, counts: readonly number[]): QuizResults {
  const answer = quiz.choices[quiz.answer];
  if (answer === undefined) throw new RangeError(`quiz ${quiz.id} has no choice ${quiz.answer}`);
  return { ...asked(quiz, counts), answer };
}

/** What webhooks are told of a quiz that has closed: the answer only when viewers have it (H-8). */
export function quizClosed(
  quiz: AskedQuiz,
  counts: readonly number[],
  state: QuizState,
): Quiz & { answer: string | null } {
  return state === 'revealed'
    ? quizResultsEvent(quiz, counts)
    : { ...asked(quiz, counts), answer: null };
}

function asked(quiz: AskedQuiz, counts: readonly number[]): Quiz {
  return {
    id: quiz.id,
    streamId: quiz.streamId,
    created: quiz.created,
    duration: quiz.durationMs,
    closeInterval: quiz.closeInterval,
    question: quiz.question,
    choices: choiceCounts(quiz.choices, counts),
    order: [...quiz.choices],
  };
}
