import type { QuizState } from '../../protocol/quizzes.ts';
import { type Tx, writing } from '../sql/procedure.ts';
import { decideAnswer } from './quiz-rules.ts';

/** An answer on its way to the record: quiz number, seat, choice, Unix ms and interval of arrival. */
export interface ArrivedAnswer {
  readonly quiz: number;
  readonly seat: number;
  readonly choice: number;
  readonly receivedMs: number;
  readonly interval: number;
}

/** What became of an answer: `record` and `same` are a yes, `other` and `closed` a no. */
export type AnswerDecision = ReturnType<typeof decideAnswer>;

interface QuizFacts {
  readonly number: number;
  readonly state: QuizState;
  readonly closeInterval: number;
}

async function factsOf(tx: Tx, numbers: ReadonlySet<number>): Promise<Map<number, QuizFacts>> {
  const facts = new Map<number, QuizFacts>();
  for (const number of numbers) {
    const [row] = await tx.query<QuizFacts>(
      `select number, state, close_interval as "closeInterval" from quizzes where number = $1`,
      [number],
    );
    if (row) facts.set(number, row);
  }
  return facts;
}

const keyOf = (quiz: number, seat: number) => `${quiz}:${seat}`;

async function recordedAmong(
  tx: Tx,
  answers: readonly ArrivedAnswer[],
): Promise<Map<string, number>> {
  const rows = await tx.query<{ quiz: number; seat: number; choice: number }>(
    `select a.quiz as quiz, a.seat as seat, a.choice as choice
     from ${tx.rows('$1', ['quiz integer', 'seat integer'])} arrived
     join answers a on a.quiz = arrived.quiz and a.seat = arrived.seat`,
    [JSON.stringify(answers.map(({ quiz, seat }) => [quiz, seat]))],
  );
  return new Map(rows.map(({ quiz, seat, choice }) => [keyOf(quiz, seat), choice]));
}

export const answerProcedures = {
  /**
   * Records a batch of answers, each decided by the state the record has in this transaction:
   * a quiz that is closed here takes none, so the count that closed it stays right (I3).
   * Decisions come in the order of the answers.
   */
  recordAnswers: writing(
    async (tx, answers: readonly ArrivedAnswer[]): Promise<AnswerDecision[]> => {
      const facts = await factsOf(tx, new Set(answers.map(({ quiz }) => quiz)));
      const recorded = await recordedAmong(tx, answers);
      const fresh: number[][] = [];
      const decisions = answers.map(({ quiz, seat, choice, receivedMs, interval }) => {
        const key = keyOf(quiz, seat);
        const { state, closeInterval } = facts.get(quiz) ?? { state: 'closed', closeInterval: 0 };
        const decision = decideAnswer({
          recordedChoice: recorded.get(key) ?? null,
          choice,
          state,
          arrivalInterval: interval,
          closeInterval,
        });
        if (decision === 'record') {
          recorded.set(key, choice);
          fresh.push([quiz, seat, choice, receivedMs]);
        }
        return decision;
      });
      if (fresh.length > 0) {
        await tx.query(
          `insert into answers (quiz, seat, choice, received)
           select quiz, seat, choice, received
           from ${tx.rows('$1', ['quiz integer', 'seat integer', 'choice smallint', 'received bigint'])} arrived`,
          [JSON.stringify(fresh)],
        );
      }
      return decisions;
    },
  ),
};
