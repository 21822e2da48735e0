import type { MetricDefinition } from '../../platform/metrics.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { quizProcedures } from './quizzes-sql.ts';

export type QuizNumberStore = Pick<Calls<typeof quizProcedures>, 'lastQuizNumber'>;

/** The largest `number` that the 32-bit columns for quizzes can store. */
const NUMBER_MAX = 2 ** 31 - 1;

/**
 * The numbers of quizzes, which all accounts share. Deleted drafts and rehearsals use them up too, and at the
 * end PostgreSQL stores no further quiz. Wider columns would rewrite the table of answers.
 */
export class QuizNumbers {
  #last = 0;

  constructor(private readonly store: QuizNumberStore) {}

  /** @throws Unavailable */
  async refresh(): Promise<void> {
    this.#last = await this.store.lastQuizNumber({});
  }

  get metrics(): MetricDefinition[] {
    return [
      {
        kind: 'gauge',
        name: 'fourbeat_quiz_numbers_used_ratio',
        help: 'Share of the numbers of quizzes that are used, at most 10 s old.',
        read: () => [[this.#last / NUMBER_MAX]],
      },
    ];
  }
}
