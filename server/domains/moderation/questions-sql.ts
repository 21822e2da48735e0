import { MODERATED_MAX } from '../../../protocol/limits.ts';
import type { KeptLine, QuestionState, QueuedQuestion } from '../../../protocol/moderation.ts';
import { Refusal } from '../../platform/errors.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { lockOwnStream, ownStream } from '../streams/streams-sql.ts';
import { pagesReadAgain } from './chat-rooms-sql.ts';
import type { OwnStream } from './moderation-sql.ts';
import { sentLine } from './sent-message-sql.ts';

/** A line that is to have a state in the queue. */
export interface QuestionChange extends OwnStream {
  readonly line: Pick<KeptLine, 'id' | 'at'>;
  readonly state: QuestionState;
  /** The name of who decides; null: a program. */
  readonly by: string | null;
  readonly nowMs: number;
}

type Stored = Omit<QueuedQuestion, 'line'> & { readonly line: string };

const COLUMNS = 'state, line, member as "by", at';
const fromRow = ({ line, ...row }: Stored): QueuedQuestion => ({ ...row, line: JSON.parse(line) });

export const questionProcedures = {
  /**
   * Puts a line into the queue, or gives it another state there.
   * @throws Refusal `not-found` when no such line was sent, `conflict` when the queue is full
   */
  queueQuestion: writing(async (tx, change: QuestionChange): Promise<QueuedQuestion> => {
    const { streamId, producer, line, state, by, nowMs } = change;
    await lockOwnStream(tx, streamId, producer);
    const known = await find(tx, streamId, line.id);
    if (known?.state === state) return known;
    if (known) {
      await tx.query(
        `update queued_questions set state = $3, member = $4, at = $5
         where stream_id = $1 and id = $2`,
        [streamId, line.id, state, by, nowMs],
      );
    } else await add(tx, change);
    await pagesReadAgain(tx, streamId);
    const changed = await find(tx, streamId, line.id);
    if (!changed) throw new Error(`a question of ${streamId} is gone`);
    return changed;
  }),

  /** The queue in the order in which its lines were written. @throws Refusal `not-found` */
  listQuestions: reading(
    async (
      tx,
      { streamId, producer, state }: OwnStream & { state: QuestionState | null },
    ): Promise<QueuedQuestion[]> => {
      await ownStream(tx, streamId, producer);
      const rows = await tx.query<Stored>(
        `select ${COLUMNS} from queued_questions
         where stream_id = $1 and ($2 = '' or state = $2) order by written, id`,
        [streamId, state ?? ''],
      );
      return rows.map(fromRow);
    },
  ),
};

async function find(tx: Tx, streamId: string, id: string): Promise<QueuedQuestion | null> {
  const [row] = await tx.query<Stored>(
    `select ${COLUMNS} from queued_questions where stream_id = $1 and id = $2`,
    [streamId, id],
  );
  return row ? fromRow(row) : null;
}

async function add(
  tx: Tx,
  { streamId, line, state, by, nowMs }: Omit<QuestionChange, 'producer'>,
): Promise<void> {
  const [queued] = await tx.query<{ n: number }>(
    'select count(*) as n from queued_questions where stream_id = $1',
    [streamId],
  );
  if (Number(queued?.n) >= MODERATED_MAX) {
    throw new Refusal('conflict', `A stream has at most ${MODERATED_MAX} questions in its queue.`);
  }
  const sent = await sentLine(tx, streamId, line);
  await tx.query(
    `insert into queued_questions (stream_id, id, state, line, written, member, at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [streamId, sent.id, state, JSON.stringify(sent), sent.at, by, nowMs],
  );
}
