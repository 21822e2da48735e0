import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { ChoiceCount, Quiz, QuizResults, QuizState } from '../../../protocol/quizzes.ts';
import { percentages } from './percentages.ts';

/** The fields of a published quiz that its events carry; `created` is Unix ms, `answer` an index of `choices`. */
export interface QuizEventFields {
  readonly id: string;
  readonly streamId: string;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly durationMs: number;
  readonly created: number;
  readonly closeInterval: number;
}

/**
 * An answer on its way to the database: number and publication of the quiz (Unix ms), seat, choice, and Unix ms of
 * its arrival. After PostgreSQL lost commits (N-22), the number of a lost quiz is given to another one, which only
 * its publication tells apart.
 */
export interface ArrivedAnswer {
  readonly quiz: number;
  readonly created: number;
  readonly seat: number;
  readonly choice: number;
  readonly receivedMs: number;
}

/**
 * The decision on an answer: `accepted` stores it, `duplicate` repeats the stored choice, `conflict`
 * differs from the stored choice, `closed` arrived too late. The first two are acknowledged.
 */
export type AnswerDecision = 'accepted' | 'duplicate' | 'conflict' | 'closed';

/** The interval at which a quiz stops accepting answers: the first that starts at or after its end. */
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
 * Decides on a viewer's answer. A `duplicate` is acknowledged after the close too,
 * so that a retry learns that its answer counts.
 *
 * `state` is that of the database in the transaction that stores the answer: an answer that was in time
 * but is stored after the counting is `closed`, whatever its `arrivalInterval`. Choices are indices.
 */
export function decideAnswer(answer: {
  recordedChoice: number | null;
  choice: number;
  state: QuizState;
  arrivalInterval: number;
  closeInterval: number;
}): AnswerDecision {
  if (answer.recordedChoice !== null) {
    return answer.recordedChoice === answer.choice ? 'duplicate' : 'conflict';
  }
  return isOpenAt(answer, answer.arrivalInterval) ? 'accepted' : 'closed';
}

/**
 * The reasons why a winners round cannot begin, one sentence for each quiz of the game that prevents it.
 * Before a quiz is revealed, the reply to a winner report would give away its answer (W-3, I-6).
 */
export function winnersBlockers(
  game: readonly { readonly state: QuizState; readonly question: string }[],
): string[] {
  return game.flatMap(({ state, question }) => {
    if (state === 'open') return [`The quiz "${question}" is still open.`];
    if (state === 'closed') return [`The quiz "${question}" is not revealed yet.`];
    return [];
  });
}

/**
 * Maps each choice to its count and percentage. The map has no prototype, so any text can
 * be a key. JavaScript moves integer-like keys to the front, so events also carry `order`.
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

/** The data of a `quiz` event: the new quiz without its answer, with all counts 0 (F-29). */
export function quizEventData(quiz: QuizEventFields): Quiz {
  return quizData(
    quiz,
    quiz.choices.map(() => 0),
  );
}

/**
 * The data of a `quiz-results` event: the quiz with its answer and its final counts, in the order of
 * `choices` (F-32).
 */
export function quizResultsData(quiz: QuizEventFields, counts: readonly number[]): QuizResults {
  const answer = quiz.choices[quiz.answer];
  if (answer === undefined) throw new RangeError(`quiz ${quiz.id} has no choice ${quiz.answer}`);
  return { ...quizData(quiz, counts), answer };
}

/** The data of the `quiz.closed` webhook event; it has the answer only if viewers have it (H-8). */
export function quizClosedData(
  quiz: QuizEventFields,
  counts: readonly number[],
  state: QuizState,
): Quiz & { answer: string | null } {
  return state === 'revealed'
    ? quizResultsData(quiz, counts)
    : { ...quizData(quiz, counts), answer: null };
}

function quizData(quiz: QuizEventFields, counts: readonly number[]): Quiz {
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

/** Whether the winners of a round are on screen: no newer quiz has replaced them. */
export function isRoundOnScreen(
  round: { readonly requested: number },
  quiz: { readonly created: number | null } | null,
): boolean {
  return (quiz?.created ?? 0) <= round.requested;
}
