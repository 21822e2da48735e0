import type { QuizState } from '../../../protocol/quizzes.ts';
import { type Tx, writing } from '../../storage/sql/procedure.ts';
import { answersWire } from './answers-wire.ts';
import type { AnswerDecision, ArrivedAnswer } from './arrived-answer.ts';
import { decideAnswer, isOpenAt } from './quiz-rules.ts';

interface QuizFacts {
  readonly number: number;
  readonly state: QuizState;
  readonly closeInterval: number;
}

/**
 * The quizzes for which one of these answers may be in time, locked so that none of them is closed
 * before this transaction ends. An answer that came too late locks none: else the close could wait
 * for ever.
 */
async function quizzesOf(
  tx: Tx,
  answers: readonly ArrivedAnswer[],
): Promise<Map<number, QuizFacts>> {
  const numbers = new Set(answers.map(({ quiz }) => quiz));
  const firstArrival = Math.min(...answers.map(({ interval }) => interval));
  const rows = await tx.query<QuizFacts>(
    `select number, state, close_interval as "closeInterval" from quizzes
     where number in (select number from ${tx.rows('$1', ['number integer'])} answered)
     and close_interval > $2 order by number ${tx.locks.share}`,
    [JSON.stringify([...numbers].map((number) => [number])), firstArrival],
  );
  return new Map(rows.map((quiz) => [quiz.number, quiz]));
}

// What is not open, or came too late, for the decision.
const CLOSED = { state: 'closed', closeInterval: 0 } as const;

const ANSWERS = {
  name: 'answers',
  columns: ['quiz integer', 'seat integer', 'choice smallint', 'received bigint'],
  keyColumns: 2,
};

const keyOf = ({ quiz, seat }: { quiz: number; seat: number }) => `${quiz}:${seat}`;

async function recordedAmong(
  tx: Tx,
  answers: readonly ArrivedAnswer[],
): Promise<Map<string, number>> {
  if (answers.length === 0) return new Map();
  const rows = await tx.query<{ quiz: number; seat: number; choice: number }>(
    `select a.quiz as quiz, a.seat as seat, a.choice as choice
     from ${tx.rows('$1', ['quiz integer', 'seat integer'])} arrived
     join answers a on a.quiz = arrived.quiz and a.seat = arrived.seat`,
    [JSON.stringify(answers.map(({ quiz, seat }) => [quiz, seat]))],
  );
  return new Map(rows.map((answer) => [keyOf(answer), answer.choice]));
}

export const answerProcedures = {
  /**
   * Records a batch of answers, each decided by the state the database has in this transaction:
   * a quiz that is closed here takes none, so the count that closed it stays right (I3).
   * Decisions come in the order of the answers.
   */
  recordAnswers: writing(
    async (tx, answers: readonly ArrivedAnswer[]): Promise<readonly AnswerDecision[]> => {
      if (answers.length === 0) return [];
      const quizzes = await quizzesOf(tx, answers);
      const quizOf = ({ quiz }: ArrivedAnswer) => quizzes.get(quiz) ?? CLOSED;
      const inTime = answers.filter((answer) => isOpenAt(quizOf(answer), answer.interval));
      // Those whose seats have none in their quiz, on whatever node; the key lets one in.
      const areNew = await tx.addNew(
        ANSWERS,
        inTime.map(({ quiz, seat, choice, receivedMs }) => [quiz, seat, choice, receivedMs]),
      );
      const added = new Set(inTime.filter((_, index) => areNew[index]));
      if (added.size === answers.length) return answers.map(() => 'record');
      // A statement after the insert: it sees whatever was there before, and what won the race.
      const addedKeys = new Set(Array.from(added, keyOf));
      const recorded = await recordedAmong(
        tx,
        answers.filter((answer) => !addedKeys.has(keyOf(answer))),
      );
      return answers.map((answer) => {
        const key = keyOf(answer);
        if (added.has(answer)) {
          recorded.set(key, answer.choice);
          return 'record';
        }
        const { state, closeInterval } = quizOf(answer);
        return decideAnswer({
          recordedChoice: recorded.get(key) ?? null,
          choice: answer.choice,
          state,
          arrivalInterval: answer.interval,
          closeInterval,
        });
      });
    },
    { wire: answersWire },
  ),
};
