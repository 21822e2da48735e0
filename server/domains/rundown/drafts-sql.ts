import { QUIZZES_MAX } from '../../../protocol/limits.ts';
import type { NewQuiz } from '../../../protocol/studio.ts';
import { DomainError } from '../../platform/errors.ts';
import { countRows, nextNumbers } from '../../storage/sql/counters.ts';
import type { Tx } from '../../storage/sql/procedure.ts';

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
 * Appends drafts to the rundown of a stream that this transaction has locked.
 * @returns the number of the first; the others follow
 * @throws DomainError `conflict` when the stream would have too many quizzes
 */
export async function addDrafts(
  tx: Tx,
  streamId: string,
  drafts: readonly NewDraft[],
): Promise<number> {
  const before = await countRows(tx, 'quizzes where stream_id = $1', [streamId]);
  if (before + drafts.length > QUIZZES_MAX) {
    throw new DomainError('conflict', `A stream has at most ${QUIZZES_MAX} quizzes.`);
  }
  const first = await nextNumbers(tx, 'quiz', drafts.length);
  // Numbers increase, so as positions they put new quizzes last.
  await tx.query(
    `insert into quizzes (id, number, position, stream_id, state, question, choices, answer,
       duration_ms, reveal)
     select id, number, number, $2, 'draft', question, choices, answer, duration_ms, reveal
     from ${tx.rows('$1', COLUMNS)} drafts`,
    [JSON.stringify(drafts.map((draft, index) => rowOf(draft, first + index))), streamId],
  );
  await incrementRundownRevision(tx, streamId);
  return first;
}

function rowOf({ id, quiz }: NewDraft, number: number) {
  const { question, choices, answer, duration, reveal } = quiz;
  const index = choices.indexOf(answer);
  return [id, number, question, JSON.stringify(choices), index, duration, reveal];
}

/** Increments the rundown revision of a stream that this transaction has locked. */
export async function incrementRundownRevision(tx: Tx, streamId: string): Promise<void> {
  await tx.query('update streams set rundown_revision = rundown_revision + 1 where id = $1', [
    streamId,
  ]);
}
