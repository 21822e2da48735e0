import type { Quiz, QuizResults } from '../protocol/quizzes.ts';

/** Final result of a viewer's answer: accepted (204), refused (409), or neither in any attempt. */
export type AnswerResult = 'acknowledged' | 'late' | 'unknown';

type ResultCounts = Record<AnswerResult, number>;

/** Results of the crowd's answers to a quiz, one per viewer. */
export interface QuizFigures extends Readonly<ResultCounts> {
  readonly id: string;
  readonly question: string;
  /** Number of answers in the published results, external viewers included; null before. */
  readonly counted: number | null;
}

const noResults = (): ResultCounts => ({ acknowledged: 0, late: 0, unknown: 0 });

/** Counts the results of the crowd's answers. */
export class AnswerFigures {
  private readonly allQuizzes = noResults();
  private readonly quizzes = new Map<
    string,
    { -readonly [K in keyof QuizFigures]: QuizFigures[K] }
  >();

  /** Takes a quiz of the feed. */
  addQuiz({ id, question }: Quiz): void {
    if (!this.quizzes.has(id))
      this.quizzes.set(id, { id, question, ...noResults(), counted: null });
  }

  addResults(results: QuizResults): void {
    this.addQuiz(results);
    const counts = Object.values(results.choices).map(({ count }) => count);
    const figures = this.quizzes.get(results.id);
    if (figures) figures.counted = counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Records a result of a viewer's answer. The first result stands until an acknowledgment replaces it.
   * @param before the result so far, or null
   * @returns the result that stands now
   */
  record(quizId: string, before: AnswerResult | null, result: AnswerResult): AnswerResult {
    if (before !== null && (result !== 'acknowledged' || before === result)) return before;
    for (const counts of [this.allQuizzes, this.quizzes.get(quizId)]) {
      if (!counts) continue;
      if (before !== null) counts[before]--;
      counts[result]++;
    }
    return result;
  }

  /** Totals over all quizzes. */
  totals(): Readonly<ResultCounts> {
    return { ...this.allQuizzes };
  }

  /** The latest quizzes, in the order of the feed. */
  newest(count: number): QuizFigures[] {
    return [...this.quizzes.values()].slice(-count).map((figures) => ({ ...figures }));
  }
}
