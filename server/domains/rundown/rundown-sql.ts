import { Refusal } from '../../platform/errors.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { lockOwnQuiz, ownQuiz, type QuizRow, quizzesOf } from '../quizzes/quizzes-sql.ts';
import { lockOwnStream, ownStream } from '../streams/streams-sql.ts';
import { addDrafts, type NewDraft, rundownChanged } from './drafts-sql.ts';

/** The quizzes of a stream in the order of its rundown. */
export interface RundownRows {
  readonly quizzes: readonly QuizRow[];
  readonly revision: number;
}

interface OwnStream {
  readonly streamId: string;
  readonly producer: string;
}

export const rundownProcedures = {
  listQuizzes: reading((tx, { streamId, producer }: OwnStream) => rundown(tx, streamId, producer)),

  /**
   * Gives the drafts of a stream this order.
   * @throws Refusal `conflict`, with `order` as it is, when the drafts are not these any more, or
   *   when the rundown is not of the revision that is given
   */
  orderQuizzes: writing(
    async (
      tx,
      input: OwnStream & { order: readonly string[]; revision: number | null },
    ): Promise<RundownRows> => {
      const { streamId, producer, order, revision } = input;
      const stream = await lockOwnStream(tx, streamId, producer);
      const drafts = await draftsOf(tx, streamId);
      const isSeen = revision === null || revision === stream.rundownRevision;
      if (!isSeen || !isOrderOf(drafts, order)) throw otherRundown(drafts);
      if (await place(tx, drafts, order)) await rundownChanged(tx, streamId);
      return rundown(tx, streamId, producer);
    },
  ),

  /** Makes a draft like a quiz, as the first draft behind it. */
  duplicateQuiz: writing(
    async (tx, input: { id: string; producer: string; copyId: string }): Promise<QuizRow> => {
      const { quiz } = await lockOwnQuiz(tx, input.id, input.producer);
      const { streamId, question, choices, durationMs, reveal } = quiz;
      const answer = choices[quiz.answer];
      if (answer === undefined) throw new Error(`quiz ${quiz.id} has no choice ${quiz.answer}`);
      const copy = { question, choices: [...choices], answer, duration: durationMs, reveal };
      await addDrafts(tx, streamId, [{ id: input.copyId, quiz: copy }]);
      const drafts = await draftsOf(tx, streamId);
      const others = drafts.filter(({ id }) => id !== input.copyId);
      const before = others.filter(({ position }) => position <= quiz.position);
      const after = others.slice(before.length);
      await place(tx, drafts, [...idsOf(before), input.copyId, ...idsOf(after)]);
      return ownQuiz(tx, input.copyId, input.producer);
    },
  ),

  /** Adds drafts behind all others: all of them or none. */
  importQuizzes: writing(
    async (tx, input: OwnStream & { drafts: readonly NewDraft[] }): Promise<QuizRow[]> => {
      const { streamId, producer, drafts } = input;
      await lockOwnStream(tx, streamId, producer);
      await addDrafts(tx, streamId, drafts);
      return (await quizzesOf(tx, streamId)).slice(-drafts.length);
    },
  ),
};

async function rundown(tx: Tx, streamId: string, producer: string): Promise<RundownRows> {
  const { rundownRevision } = await ownStream(tx, streamId, producer);
  return { quizzes: await quizzesOf(tx, streamId), revision: rundownRevision };
}

interface Draft {
  readonly id: string;
  readonly position: number;
}

const idsOf = (drafts: readonly Draft[]) => drafts.map(({ id }) => id);

/** The drafts of a stream that this transaction has locked, so that they stay drafts. */
async function draftsOf(tx: Tx, streamId: string): Promise<readonly Draft[]> {
  return tx.query<Draft>(
    `select id, position from quizzes where stream_id = $1 and state = 'draft'
     order by position, number`,
    [streamId],
  );
}

function isOrderOf(drafts: readonly Draft[], order: readonly string[]): boolean {
  const asked = new Set(order);
  const isEach = drafts.every(({ id }) => asked.has(id));
  return isEach && order.length === drafts.length;
}

/** They are locked, so what is told here is what a next order has to be of. */
function otherRundown(drafts: readonly Draft[]): Refusal {
  const detail =
    'The rundown was changed meanwhile: read it again, and order the drafts as they are.';
  return new Refusal('conflict', detail, { order: idsOf(drafts) });
}

/**
 * Gives drafts an order. The places they have stay theirs altogether, so that no published quiz moves,
 * and none that is being closed or answered is touched.
 * @returns whether any moved
 */
async function place(tx: Tx, drafts: readonly Draft[], order: readonly string[]): Promise<boolean> {
  const before = new Map(drafts.map(({ id, position }) => [id, position]));
  const moved = order.flatMap((id, index) => {
    const position = drafts[index]?.position as number;
    return before.get(id) === position ? [] : [[id, position]];
  });
  if (moved.length === 0) return false;
  await tx.query(
    `update quizzes set position = moved.position
     from ${tx.rows('$1', ['id text', 'position integer'])} moved where quizzes.id = moved.id`,
    [JSON.stringify(moved)],
  );
  return true;
}
