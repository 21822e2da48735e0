import { intervalStartMs } from '../../protocol/interval.ts';
import type { Quiz, QuizResults } from '../../protocol/quizzes.ts';
import { externalViewersSuffix } from './external-viewers.ts';

// Bound of the stored quizzes; a game of a show has fewer.
const QUIZZES_MAX = 16;

/** Outcome of an answer: recorded (204), refused (409), unknown (another response, or none). */
export type AnswerOutcome = 'recorded' | 'refused' | 'unknown';

export interface SentAnswer {
  readonly quizId: string;
  readonly viewer: number;
  readonly choice: string;
  /** Lower bound of its arrival, service time. */
  readonly earliestMs: number;
  /** Whether no earlier answer of this viewer can have been recorded. */
  readonly isFirst: boolean;
}

/** Whether a viewer answered all quizzes right; `maybe` when an outcome is unknown. */
export type Qualification = 'yes' | 'maybe' | 'no';

interface ViewerAnswers {
  /** The acknowledged choice; null before. */
  recorded: string | null;
  /** Choices without a response, one of which may have been recorded. */
  readonly possible: Set<string>;
}

interface PublishedQuiz {
  readonly quiz: Quiz;
  readonly viewers: Map<number, ViewerAnswers>;
  /** The published results; null before them. */
  revealed: { readonly answer: string; readonly count: number } | null;
}

/** All answers of the crowd and their outcomes. Checks each response and the results (I-3). */
export class AnswerLedger {
  private readonly quizzes = new Map<string, PublishedQuiz>();

  /** Takes a `quiz` event. @returns what is wrong with it, or null */
  onQuiz(quiz: Quiz): string | null {
    this.quizOf(quiz);
    if ('answer' in quiz) return `the quiz ${quiz.id} contains its answer`;
    const counts = Object.values(quiz.choices);
    const isBlank = counts.every(({ count, percentage }) => count === 0 && percentage === 0);
    if (!isBlank) return `the new quiz ${quiz.id} has counts`;
    const keys = Object.keys(quiz.choices).sort();
    const isSameChoices = JSON.stringify(keys) === JSON.stringify([...quiz.order].sort());
    return isSameChoices ? null : `the choices of quiz ${quiz.id} are not those of its order`;
  }

  /** Records an answer that is about to be sent; a viewer sends one at a time. */
  sent(quiz: Quiz, viewer: number, choice: string, earliestMs: number): SentAnswer {
    const answers = this.answersOf(this.quizOf(quiz), viewer);
    const isFirst = answers.recorded === null && answers.possible.size === 0;
    if (answers.recorded === null) answers.possible.add(choice);
    return { quizId: quiz.id, viewer, choice, earliestMs, isFirst };
  }

  /**
   * Records and checks the response to an answer.
   * @param latestMs upper bound of its arrival, service time
   * @returns what is wrong with the response, or null
   */
  checkResponse(attempt: SentAnswer, outcome: AnswerOutcome, latestMs: number): string | null {
    const published = this.quizzes.get(attempt.quizId);
    if (!published || outcome === 'unknown') return null;
    const answers = this.answersOf(published, attempt.viewer);
    const closeMs = intervalStartMs(published.quiz.closeInterval);
    const { choice, isFirst } = attempt;
    const before = answers.recorded;
    const subject = `viewer ${attempt.viewer}, quiz ${attempt.quizId}:`;
    if (outcome === 'recorded') {
      answers.recorded ??= choice;
      answers.possible.clear();
      if (before !== null && before !== choice) return `${subject} two answers were acknowledged`;
      if (isFirst && attempt.earliestMs >= closeMs)
        return `${subject} acknowledged after the close`;
      return null;
    }
    answers.possible.delete(choice);
    if (before === choice) return `${subject} its own answer was refused`;
    if (isFirst && latestMs < closeMs) return `${subject} refused before the close`;
    return null;
  }

  /** Takes a `quiz-results` event. */
  onResults(results: QuizResults): void {
    const { answer, choices } = results;
    this.quizOf(results).revealed = { answer, count: choices[answer]?.count ?? 0 };
  }

  /**
   * Compares results with what was acknowledged.
   * @param others upper bound of the external viewers, each of whom may have answered once
   * @returns what is wrong with the results, or null
   */
  check(results: QuizResults, others = 0): string | null {
    const { quiz, viewers } = this.quizOf(results);
    const subject = `the results of quiz ${quiz.id}`;
    let unusedOthers = others;
    for (const choice of quiz.order) {
      const count = results.choices[choice]?.count ?? Number.NaN;
      const { low, high } = boundsOf(viewers.values(), choice);
      unusedOthers -= Math.max(0, count - high);
      if (count >= low && unusedOthers >= 0) continue;
      const range = low === high ? `${low}` : `${low} to ${high}`;
      return `${subject} count ${count} for "${choice}", but ${range} were acknowledged${externalViewersSuffix(others)}`;
    }
    if (!quiz.order.includes(results.answer)) return `${subject} have an answer that is no choice`;
    return percentagesMatch(results)
      ? null
      : `${subject} have percentages that do not fit the counts`;
  }

  /** Acknowledged answers by choice so far. */
  recordedCounts(quizId: string): number[] {
    const published = this.quizzes.get(quizId);
    if (!published) return [];
    const counts = new Map<string, number>();
    for (const { recorded } of published.viewers.values()) {
      if (recorded !== null) counts.set(recorded, (counts.get(recorded) ?? 0) + 1);
    }
    return published.quiz.order.map((choice) => counts.get(choice) ?? 0);
  }

  /** Whether a viewer answered all of these quizzes right (W-7); `no` if a quiz has no results yet. */
  qualification(quizIds: readonly string[], viewer: number): Qualification {
    let qualification: Qualification = 'yes';
    for (const quizId of quizIds) {
      const published = this.quizzes.get(quizId);
      const answers = published?.viewers.get(viewer);
      if (!published?.revealed || !answers) return 'no';
      const { answer } = published.revealed;
      if (answers.recorded === answer) continue;
      if (answers.recorded !== null || !answers.possible.has(answer)) return 'no';
      qualification = 'maybe';
    }
    return qualification;
  }

  /** Upper bound of the external viewers who answered all of these quizzes right (W-7). */
  externalViewersQualified(quizIds: readonly string[]): number {
    const rightCounts = quizIds.map((quizId) => {
      const published = this.quizzes.get(quizId);
      if (!published?.revealed) return 0;
      const { answer, count } = published.revealed;
      return Math.max(0, count - boundsOf(published.viewers.values(), answer).low);
    });
    return Math.min(Number.POSITIVE_INFINITY, ...rightCounts);
  }

  private quizOf(quiz: Quiz): PublishedQuiz {
    const existing = this.quizzes.get(quiz.id);
    if (existing) return existing;
    const published = { quiz, viewers: new Map<number, ViewerAnswers>(), revealed: null };
    this.quizzes.set(quiz.id, published);
    for (const oldest of this.quizzes.keys()) {
      if (this.quizzes.size <= QUIZZES_MAX) break;
      this.quizzes.delete(oldest);
    }
    return published;
  }

  private answersOf({ viewers }: PublishedQuiz, viewer: number): ViewerAnswers {
    const existing = viewers.get(viewer);
    if (existing) return existing;
    const answers = { recorded: null, possible: new Set<string>() };
    viewers.set(viewer, answers);
    return answers;
  }
}

function boundsOf(answers: Iterable<ViewerAnswers>, choice: string): { low: number; high: number } {
  let low = 0;
  let possibleCount = 0;
  for (const { recorded, possible } of answers) {
    if (recorded === choice) low++;
    else if (recorded === null && possible.has(choice)) possibleCount++;
  }
  return { low, high: low + possibleCount };
}

// integers that add up to 100, each less than 1 from the exact percentage.
function percentagesMatch({ choices }: QuizResults): boolean {
  const counts = Object.values(choices);
  const answers = counts.reduce((sum, { count }) => sum + count, 0);
  const percent = counts.reduce((sum, { percentage }) => sum + percentage, 0);
  if (answers === 0) return percent === 0;
  return (
    percent === 100 &&
    counts.every(({ count, percentage }) => Math.abs((count / answers) * 100 - percentage) < 1)
  );
}
