import type { Quiz, QuizResults } from '../protocol/quizzes.ts';

/** What became of a viewer's answer to a quiz; `unknown`: every try was lost. */
export type AnswerFate = 'acknowledged' | 'late' | 'unknown';

type Fates = Record<AnswerFate, number>;

/** What became of the answers to a quiz, one of each viewer. */
export interface QuizFigures extends Readonly<Fates> {
  readonly id: string;
  readonly question: string;
  /** Answers that its results count, of anybody; null before them. */
  readonly counted: number | null;
}

const none = (): Fates => ({ acknowledged: 0, late: 0, unknown: 0 });

/** Counts what the service said to the crowd's answers. */
export class AnswerFigures {
  private readonly all = none();
  private readonly quizzes = new Map<
    string,
    { -readonly [K in keyof QuizFigures]: QuizFigures[K] }
  >();

  /** A quiz was read in the feed. */
  asked({ id, question }: Quiz): void {
    if (!this.quizzes.has(id)) this.quizzes.set(id, { id, question, ...none(), counted: null });
  }

  /** The results of a quiz were read. */
  revealed(results: QuizResults): void {
    this.asked(results);
    const counts = Object.values(results.choices).map(({ count }) => count);
    const figures = this.quizzes.get(results.id);
    if (figures) figures.counted = counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * A viewer heard of its answer. The first that it hears stands, until it is told that it counts.
   * @param before what it had heard
   * @returns what stands now
   */
  heard(quizId: string, before: AnswerFate | null, fate: AnswerFate): AnswerFate {
    if (before !== null && (fate !== 'acknowledged' || before === fate)) return before;
    for (const fates of [this.all, this.quizzes.get(quizId)]) {
      if (!fates) continue;
      if (before !== null) fates[before]--;
      fates[fate]++;
    }
    return fate;
  }

  /** Over all quizzes. */
  totals(): Readonly<Fates> {
    return { ...this.all };
  }

  /** The quizzes that were asked last, in the order they were asked. */
  newest(count: number): QuizFigures[] {
    return [...this.quizzes.values()].slice(-count).map((figures) => ({ ...figures }));
  }
}
