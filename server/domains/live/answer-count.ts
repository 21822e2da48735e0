import { waitAtMost } from '../../platform/wait-at-most.ts';
import type { AnswerPage, AnswerPageRef } from './live-sql.ts';

/** Takes the only reader of SQLite 10 ms, with ten choices. */
const ANSWERS_PER_PAGE = 20_000;

/** The state of a show waits this long for a count that it began. */
const WAIT_MS = 150;

/** A quiz that is open. */
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
  private isStopped = false;
  /** Why the last count failed, until a caller knows. */
  private failure: { readonly error: unknown } | null = null;

  /** @throws Unavailable while the database is unavailable */
  constructor(private readonly countPage: (page: AnswerPageRef) => Promise<AnswerPage>) {}

  /** Ends the count that runs; none begins any more. */
  stop(): void {
    this.quizNumber = null;
    this.isStopped = true;
  }

  /**
   * Counts again, unless a count runs.
   * @param first the first page of the count
   * @returns the newest count; of the first one of a quiz, the pages so far
   * @throws Unavailable while the database is unavailable
   */
  async count(quiz: CountedQuiz, first: AnswerPage): Promise<readonly number[]> {
    if (first.nextSeat === null || this.isStopped) return first.counts;
    if (quiz.number !== this.quizNumber) {
      this.quizNumber = quiz.number;
      this.counts = null;
      this.sums = first.counts;
      this.counting = null;
      this.failure = null;
    }
    this.throwFailure();
    if (!this.counting) {
      const counting = this.countAll(quiz, first)
        .catch((error) => {
          if (quiz.number === this.quizNumber) this.failure = { error };
        })
        .finally(() => {
          if (this.counting === counting) this.counting = null;
        });
      this.counting = counting;
    }
    await waitAtMost(WAIT_MS, this.counting);
    this.throwFailure();
    return this.counts ?? this.sums;
  }

  private throwFailure(): void {
    const { failure } = this;
    this.failure = null;
    if (failure) throw failure.error;
  }

  private async countAll({ number, choices }: CountedQuiz, first: AnswerPage): Promise<void> {
    let sums = first.counts;
    let fromSeat = first.nextSeat;
    while (fromSeat !== null) {
      const page = await this.countPage({ number, choices, fromSeat, limit: ANSWERS_PER_PAGE });
      if (number !== this.quizNumber) return;
      sums = sums.map((sum, choice) => sum + (page.counts[choice] ?? 0));
      // After a failure it begins again, and what was shown must not decrease.
      this.sums = sums.map((sum, choice) => Math.max(sum, this.sums[choice] ?? 0));
      fromSeat = page.nextSeat;
    }
    this.counts = sums;
  }
}
