import { QUIZZES_MAX } from '../../../protocol/limits.ts';
import type { NewQuiz } from '../../../protocol/studio.ts';
import { Refusal } from '../../platform/errors.ts';
import { nextNumbers } from '../../storage/sql/counters.ts';
import type { Tx } from '../../storage/sql/procedure.ts';

/** A quiz to keep under an id. */
export interface NewDraft {
  readonly id: string;
  readonly quiz: NewQuiz;
}

const COLUMNS = [
  'id text',
  'number integer',
  'question text',
  'choices text',
  'answer smallint',
  'duration_ms integer',
  'reveal text',
];

/**
 * Puts drafts behind all quizzes of a stream that this transaction has locked, in the order given.
 * @throws Refusal `conflict` when the stream would have too many
 */
export async function addDrafts(
  tx: Tx,
  streamId: string,
  drafts: readonly NewDraft[],
): Promise<void> {
  const [row] = await tx.query<{ n: number }>(
    'select count(*) as n from quizzes where stream_id = $1',
    [streamId],
  );
  if (Number(row?.n) + drafts.length > QUIZZES_MAX) {
    throw new Refusal('conflict', `A stream has at most ${QUIZZES_MAX} quizzes.`);
  }
  const first = await nextNumbers(tx, 'quiz', drafts.length);
  // Numbers rise, so those of new quizzes are places behind all others.
  await tx.query(
    `insert into quizzes (id, number, position, stream_id, state, question, choices, answer,
       duration_ms, reveal)
     select id, number, number, $2, 'draft', question, choices, answer, duration_ms, reveal
     from ${tx.rows('$1', COLUMNS)} drafts`,
    [JSON.stringify(drafts.map((draft, index) => cellsOf(draft, first + index))), streamId],
  );
  await rundownChanged(tx, streamId);
}

function cellsOf({ id, quiz }: NewDraft, number: number) {
  const { question, choices, answer, duration, reveal } = quiz;
  const index = choices.indexOf(answer);
  return [id, number, question, JSON.stringify(choices), index, duration, reveal];
}

/** Raises the revision of a rundown whose stream this transaction has locked. */
export async function rundownChanged(tx: Tx, streamId: string): Promise<void> {
  await tx.query('update streams set rundown_revision = rundown_revision + 1 where id = $1', [
    streamId,
  ]);
}
