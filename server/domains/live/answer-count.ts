import { waitAtMost } from '../../platform/wait-at-most.ts';
import type { AnswerPage, AnswerPageRef } from './live-sql.ts';

/** The state of a show waits this long for a count that it began. */
const WAIT_MS = 150;

/** An open quiz. */
export type CountedQuiz = Pick<AnswerPageRef, 'number' | 'choices'>;

/**
 * The answers to the open quiz of a show by choice, counted page by page: at once, a million answers with ten choices
 * take 0.4 s of SQLite's only reader, twice a second.
 */
export class AnswerCount {
  private quizNumber: number | null = null;
  /** The last count that has ended; null before. */
  private counts: readonly number[] | null = null;
  /** The pages so far of the count that runs. */
  private sums: readonly number[] = [];
  private counting: Promise<void> | null = null;

  /** @throws Unavailable while the database is unavailable */
  constructor(private readonly countPage: (page: AnswerPageRef) => Promise<AnswerPage>) {}

  /**
   * Counts again, unless a count runs.
   * @returns the newest count; of the first one of a quiz, the pages so far
   * @throws Unavailable while the database is unavailable
   */
  async count(quiz: CountedQuiz): Promise<readonly number[]> {
    if (quiz.number !== this.quizNumber) {
      this.quizNumber = quiz.number;
      this.counts = null;
      this.sums = Array<number>(quiz.choices).fill(0);
      this.counting = null;
    }
    if (!this.counting) {
      const counting = this.countAll(quiz).finally(() => {
        if (this.counting === counting) this.counting = null;
      });
      this.counting = counting;
    }
    await waitAtMost(WAIT_MS, this.counting);
    return this.counts ?? this.sums;
  }

  private async countAll({ number, choices }: CountedQuiz): Promise<void> {
    let sums: readonly number[] = Array<number>(choices).fill(0);
    let fromSeat: number | null = 0;
    while (fromSeat !== null) {
      const page: AnswerPage = await this.countPage({ number, choices, fromSeat });
      if (number !== this.quizNumber) return;
      sums = sums.map((sum, choice) => sum + (page.counts[choice] ?? 0));
      this.sums = sums;
      fromSeat = page.nextSeat;
    }
    this.counts = sums;
  }
}
