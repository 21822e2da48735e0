import { MODERATED_MAX } from '../../../protocol/limits.ts';
import type {
  QuestionState,
  QueuedQuestion,
  StoredChatMessage,
} from '../../../protocol/moderation.ts';
import { DomainError } from '../../platform/errors.ts';
import { countRows } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnStream, ownStream } from '../streams/streams-sql.ts';
import { incrementRevision } from './chat-state-sql.ts';
import { messageNotSent } from './sent-message-sql.ts';

/** Sets the state of a message in the question queue. */
export interface QuestionChange extends OwnStream {
  readonly id: string;
  /** The message as it was sent; null when it is in the queue, or was not found. */
  readonly message: StoredChatMessage | null;
  readonly state: QuestionState;
  /** The name of the member who decides; null: a program. */
  readonly by: string | null;
  readonly nowMs: number;
}

export interface QuestionSearch extends OwnStream {
  readonly state: QuestionState | null;
  /** The id of the last question of the page before; '' for the first page. */
  readonly after: string;
}

/** A question as JSON. */
export interface QuestionText {
  readonly id: string;
  /** When its message was posted, Unix ms. */
  readonly written: number;
  readonly json: string;
}

/** 10,000 questions of 280 emoji have 18 MB: in one piece they stopped all requests for 0.4 s. */
export const QUESTIONS_PER_PAGE = 200;

type StoredQuestion = Omit<QueuedQuestion, 'line'> & { readonly line: string };

const COLUMNS = 'state, line, member as "by", at';
const fromRow = ({ line, ...row }: StoredQuestion): QueuedQuestion => ({
  ...row,
  line: JSON.parse(line),
});

/** A question with the text of its message as it is stored. */
function jsonOf({ state, line, by, at }: StoredQuestion): string {
  const rest = JSON.stringify({ by, at: Number(at) });
  return `{"state":"${state}","line":${line},${rest.slice(1)}`;
}

export const questionProcedures = {
  /**
   * Adds a message to the question queue, or changes its state there.
   * @throws DomainError `not-found` when no such message was sent, `conflict` when the queue is full
   */
  queueQuestion: writeProcedure(async (tx, change: QuestionChange): Promise<QueuedQuestion> => {
    const { streamId, producer, id, state, by, nowMs } = change;
    await lockOwnStream(tx, streamId, producer);
    const queued = await findQuestion(tx, streamId, id);
    if (queued?.state === state) return queued;
    if (queued) {
      await tx.query(
        `update queued_questions set state = $3, member = $4, at = $5
         where stream_id = $1 and id = $2`,
        [streamId, id, state, by, nowMs],
      );
    } else await insertQuestion(tx, change);
    await incrementRevision(tx, streamId);
    const changed = await findQuestion(tx, streamId, id);
    if (!changed) throw new Error(`a question of stream ${streamId} is missing`);
    return changed;
  }),

  /** Whether a message is in the question queue of a stream, of any account. */
  isQuestionQueued: readProcedure(
    async (tx, { streamId, id }: { streamId: string; id: string }): Promise<boolean> =>
      (await findQuestion(tx, streamId, id)) !== null,
  ),

  /**
   * A page of the queue, by id. @returns fewer than `QUESTIONS_PER_PAGE` at the end
   * @throws DomainError `not-found`
   */
  readQuestions: readProcedure(
    async (tx, { streamId, producer, state, after }: QuestionSearch): Promise<QuestionText[]> => {
      await ownStream(tx, streamId, producer);
      const rows = await tx.query<StoredQuestion & Omit<QuestionText, 'json'>>(
        `select id, written, ${COLUMNS} from queued_questions
         where stream_id = $1 and ($2 = '' or state = $2) and id > $3 order by id limit $4`,
        [streamId, state ?? '', after, QUESTIONS_PER_PAGE],
      );
      return rows.map((row) => ({ id: row.id, written: Number(row.written), json: jsonOf(row) }));
    },
  ),
};

async function findQuestion(tx: Tx, streamId: string, id: string): Promise<QueuedQuestion | null> {
  const [row] = await tx.query<StoredQuestion>(
    `select ${COLUMNS} from queued_questions where stream_id = $1 and id = $2`,
    [streamId, id],
  );
  return row ? fromRow(row) : null;
}

async function insertQuestion(
  tx: Tx,
  { streamId, message, state, by, nowMs }: Omit<QuestionChange, 'producer' | 'id'>,
): Promise<void> {
  if (!message) throw messageNotSent();
  if ((await countRows(tx, 'queued_questions where stream_id = $1', [streamId])) >= MODERATED_MAX) {
    const detail = `A stream has at most ${MODERATED_MAX} questions in its queue.`;
    throw new DomainError('conflict', detail);
  }
  await tx.query(
    `insert into queued_questions (stream_id, id, state, line, written, member, at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [streamId, message.id, state, JSON.stringify(message), message.at, by, nowMs],
  );
}
