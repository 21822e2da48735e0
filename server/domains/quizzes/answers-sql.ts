import { intervalAt } from '../../../protocol/interval.ts';
import type { QuizState } from '../../../protocol/quizzes.ts';
import { type Codec, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { type AnswerDecision, type ArrivedAnswer, decideAnswer, isOpenAt } from './quiz-rules.ts';

interface LockedQuiz {
  readonly number: number;
  readonly created: number;
  readonly state: QuizState;
  readonly closeInterval: number;
}

/**
 * Locks and returns the quizzes for which one of these answers may be in time, so that none closes
 * before this transaction ends. A late answer locks no quiz; otherwise late answers could delay the
 * close forever.
 */
async function lockQuizzes(
  tx: Tx,
  answers: readonly ArrivedAnswer[],
): Promise<Map<number, LockedQuiz>> {
  const numbers = new Set(answers.map(({ quiz }) => quiz));
  const firstMs = Math.min(...answers.map(({ receivedMs }) => receivedMs));
  const rows = await tx.query<LockedQuiz>(
    `select number, created, state, close_interval as "closeInterval" from quizzes
     where number in (select number from ${tx.rows('$1', ['number integer'])} answered)
     and close_interval > $2 order by number ${tx.locks.share}`,
    [JSON.stringify([...numbers].map((number) => [number])), intervalAt(firstMs)],
  );
  return new Map(rows.map((quiz) => [quiz.number, quiz]));
}

// Stands for a quiz that `lockQuizzes` omits, such as one whose answers all came too late, and for one whose
// number another quiz has.
const CLOSED_QUIZ = { state: 'closed', closeInterval: 0 } as const;

const ANSWERS = {
  name: 'answers',
  columns: ['quiz integer', 'seat integer', 'choice smallint', 'received bigint'],
  keyColumns: 2,
};

const keyOf = ({ quiz, created, seat }: Pick<ArrivedAnswer, 'quiz' | 'created' | 'seat'>) =>
  `${quiz}:${created}:${seat}`;

/** The stored choices by the keys of these answers. */
async function recordedChoices(
  tx: Tx,
  answers: readonly ArrivedAnswer[],
): Promise<Map<string, number>> {
  if (answers.length === 0) return new Map();
  const rows = await tx.query<Omit<ArrivedAnswer, 'receivedMs'>>(
    `select a.quiz as quiz, q.created as created, a.seat as seat, a.choice as choice
     from ${tx.rows('$1', ['quiz integer', 'created bigint', 'seat integer'])} arrived
     join quizzes q on q.number = arrived.quiz and q.created = arrived.created
     join answers a on a.quiz = arrived.quiz and a.seat = arrived.seat`,
    [JSON.stringify(answers.map(({ quiz, created, seat }) => [quiz, created, seat]))],
  );
  return new Map(rows.map((answer) => [keyOf(answer), answer.choice]));
}

const DECISIONS: readonly AnswerDecision[] = ['accepted', 'duplicate', 'conflict', 'closed'];
const FIELDS = 5;

/**
 * Packs a batch of answers into one typed array to pass it between threads. Objects, and a string for
 * each decision, would cost 0.6 µs more an answer for the round trip.
 */
const ANSWERS_CODEC: Codec<readonly ArrivedAnswer[], readonly AnswerDecision[]> = {
  encodeInput(answers) {
    const packed = new Float64Array(answers.length * FIELDS);
    let at = 0;
    for (const { quiz, created, seat, choice, receivedMs } of answers) {
      packed[at++] = quiz;
      packed[at++] = created;
      packed[at++] = seat;
      packed[at++] = choice;
      packed[at++] = receivedMs;
    }
    return packed;
  },
  decodeInput(packed) {
    const values = packed as Float64Array;
    return Array.from({ length: values.length / FIELDS }, (_, index) => {
      const at = index * FIELDS;
      return {
        quiz: values[at] as number,
        created: values[at + 1] as number,
        seat: values[at + 2] as number,
        choice: values[at + 3] as number,
        receivedMs: values[at + 4] as number,
      };
    });
  },
  encodeOutput: (decisions) =>
    Uint8Array.from(decisions, (decision) => DECISIONS.indexOf(decision)),
  decodeOutput: (packed) =>
    Array.from(packed as Uint8Array, (code) => DECISIONS[code] as AnswerDecision),
};

export const answerProcedures = {
  /**
   * Stores a batch of answers and decides on each by the state of its quiz in this transaction: a
   * closed quiz takes none, so its final count stays right (I-3).
   * @returns decisions in the order of the answers
   */
  recordAnswers: writeProcedure(
    async (tx, answers: readonly ArrivedAnswer[]): Promise<readonly AnswerDecision[]> => {
      if (answers.length === 0) return [];
      const quizzes = await lockQuizzes(tx, answers);
      const quizOf = ({ quiz, created }: ArrivedAnswer) => {
        const locked = quizzes.get(quiz);
        return locked?.created === created ? locked : CLOSED_QUIZ;
      };
      const inTime = answers.filter((answer) =>
        isOpenAt(quizOf(answer), intervalAt(answer.receivedMs)),
      );
      // The primary key admits one answer a seat and quiz, on whatever node it arrives.
      const isAdded = await tx.insertNew(
        ANSWERS,
        inTime.map(({ quiz, seat, choice, receivedMs }) => [quiz, seat, choice, receivedMs]),
      );
      const added = new Set(inTime.filter((_, index) => isAdded[index]));
      if (added.size === answers.length) return answers.map(() => 'accepted');
      // This statement follows the insert, so it also sees answers that won a concurrent insert.
      const addedKeys = new Set(Array.from(added, keyOf));
      const recorded = await recordedChoices(
        tx,
        answers.filter((answer) => !addedKeys.has(keyOf(answer))),
      );
      return answers.map((answer) => {
        const key = keyOf(answer);
        if (added.has(answer)) {
          recorded.set(key, answer.choice);
          return 'accepted';
        }
        const { state, closeInterval } = quizOf(answer);
        return decideAnswer({
          recordedChoice: recorded.get(key) ?? null,
          choice: answer.choice,
          state,
          arrivalInterval: intervalAt(answer.receivedMs),
          closeInterval,
        });
      });
    },
    { codec: ANSWERS_CODEC },
  ),
};
