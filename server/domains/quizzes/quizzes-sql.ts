import type { QuizState, Reveal } from '../../../protocol/quizzes.ts';
import type { NewQuiz, QuizPatch } from '../../../protocol/studio.ts';
import { Refusal } from '../../platform/errors.ts';
import type { ResultEvent } from '../../realtime/feed/interval-body.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { addDrafts, rundownChanged } from '../rundown/drafts-sql.ts';
import { lockOwnStream, ownStream, type StreamRow } from '../streams/streams-sql.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import { closeIntervalOf, quizClosed, quizEvent, quizResultsEvent } from './quiz-rules.ts';

/** A quiz as the database keeps it; `answer` is an index into `choices`. */
export interface QuizRow {
  readonly id: string;
  /** Short key that answers refer to. */
  readonly number: number;
  /** Its place in the rundown. */
  readonly position: number;
  readonly streamId: string;
  readonly state: QuizState;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly durationMs: number;
  readonly reveal: Reveal;
  /** When it was published, Unix ms. */
  readonly created: number | null;
  readonly closeInterval: number | null;
  readonly game: number | null;
  /** Final counts in the order of `choices`; null until it is closed. */
  readonly counts: readonly number[] | null;
}

/** A quiz that has been published: its times are set. */
export type PublishedQuiz = QuizRow & { readonly created: number; readonly closeInterval: number };

const COLUMNS = `id, number, position, stream_id as "streamId", state, question, choices, answer,
  duration_ms as "durationMs", reveal, created, close_interval as "closeInterval", game, counts`;

type Stored = Omit<QuizRow, 'choices' | 'counts'> & { choices: string; counts: string | null };

const fromRow = (row: Stored): QuizRow => ({
  ...row,
  choices: JSON.parse(row.choices),
  counts: row.counts === null ? null : JSON.parse(row.counts),
});

async function find(tx: Tx, id: string): Promise<QuizRow | null> {
  const [row] = await tx.query<Stored>(`select ${COLUMNS} from quizzes where id = $1`, [id]);
  return row ? fromRow(row) : null;
}

/** The quiz of a stream that was published last; null when none was. */
export async function latestPublished(tx: Tx, streamId: string): Promise<QuizRow | null> {
  const [row] = await tx.query<Stored>(
    `select ${COLUMNS} from quizzes where stream_id = $1 and created is not null
     order by created desc, number desc limit 1`,
    [streamId],
  );
  return row ? fromRow(row) : null;
}

/** The quiz, if it is this producer's. @throws Refusal `not-found` */
export async function ownQuiz(tx: Tx, id: string, producer: string): Promise<QuizRow> {
  const quiz = await find(tx, id);
  if (!quiz) throw new Refusal('not-found', 'This account has no such quiz.');
  await ownStream(tx, quiz.streamId, producer);
  return quiz;
}

/**
 * The quiz, if it is this producer's, and its stream, locked. The stream comes first: what is read of
 * the quiz after that stays as it is, but for a close.
 * @throws Refusal `not-found`
 */
export async function lockOwnQuiz(
  tx: Tx,
  id: string,
  producer: string,
): Promise<{ quiz: QuizRow; stream: StreamRow }> {
  const { streamId } = await ownQuiz(tx, id, producer);
  const stream = await lockOwnStream(tx, streamId, producer);
  return { quiz: await ownQuiz(tx, id, producer), stream };
}

/** The quizzes of a stream, in the order of its rundown. */
export async function quizzesOf(tx: Tx, streamId: string): Promise<QuizRow[]> {
  const rows = await tx.query<Stored>(
    `select ${COLUMNS} from quizzes where stream_id = $1 order by position, number`,
    [streamId],
  );
  return rows.map(fromRow);
}

async function lockOwnDraft(tx: Tx, id: string, producer: string) {
  const found = await lockOwnQuiz(tx, id, producer);
  const { quiz } = found;
  if (quiz.state !== 'draft') {
    throw new Refusal('conflict', 'The quiz is published; only a draft can be changed.');
  }
  return found;
}

interface Own {
  readonly id: string;
  readonly producer: string;
}

export const quizProcedures = {
  createQuiz: writing(
    async (tx, input: Own & { streamId: string; quiz: NewQuiz }): Promise<QuizRow> => {
      await lockOwnStream(tx, input.streamId, input.producer);
      await addDrafts(tx, input.streamId, [{ id: input.id, quiz: input.quiz }]);
      return ownQuiz(tx, input.id, input.producer);
    },
  ),

  findOwnQuiz: reading((tx, { id, producer }: Own) => ownQuiz(tx, id, producer)),

  /** @throws Refusal `invalid` when the answer would not be one of the choices. */
  patchQuiz: writing(async (tx, input: Own & { patch: QuizPatch }): Promise<QuizRow> => {
    const { quiz } = await lockOwnDraft(tx, input.id, input.producer);
    const choices = input.patch.choices ?? quiz.choices;
    const answer = choices.indexOf(input.patch.answer ?? quiz.choices[quiz.answer] ?? '');
    if (answer < 0) throw new Refusal('invalid', 'answer: must be one of the choices.');
    await tx.query(
      `update quizzes set question = $2, choices = $3, answer = $4, duration_ms = $5, reveal = $6
       where id = $1`,
      [
        input.id,
        input.patch.question ?? quiz.question,
        JSON.stringify(choices),
        answer,
        input.patch.duration ?? quiz.durationMs,
        input.patch.reveal ?? quiz.reveal,
      ],
    );
    await rundownChanged(tx, quiz.streamId);
    return ownQuiz(tx, input.id, input.producer);
  }),

  deleteQuiz: writing(async (tx, input: Own): Promise<void> => {
    const { quiz } = await lockOwnDraft(tx, input.id, input.producer);
    await tx.query('delete from quizzes where id = $1', [input.id]);
    await rundownChanged(tx, quiz.streamId);
  }),

  /** Opens a draft and puts its event in the outbox: both or neither. */
  publishQuiz: writing(async (tx, input: Own & { nowMs: number }): Promise<QuizRow> => {
    const { quiz, stream } = await lockOwnDraft(tx, input.id, input.producer);
    if (stream.status === 'ENDED') {
      throw new Refusal('conflict', 'The stream has ended; nobody could answer.');
    }
    const closeInterval = closeIntervalOf({
      createdMs: input.nowMs,
      durationMs: quiz.durationMs,
      latencyAllowanceMs: stream.latencyAllowanceMs,
    });
    await tx.query(
      `update quizzes set state = 'open', created = $2, close_interval = $3,
         game = (select game from streams where id = $4) where id = $1`,
      [quiz.id, input.nowMs, closeInterval, quiz.streamId],
    );
    const published = { ...quiz, created: input.nowMs, closeInterval };
    await recordEvent(tx, quiz.streamId, 'quiz', quizEvent(published));
    await rundownChanged(tx, quiz.streamId);
    return ownQuiz(tx, input.id, input.producer);
  }),

  /** Publishes the results of a closed quiz; of a revealed one, changes nothing. */
  revealQuiz: writing(async (tx, input: Own): Promise<QuizRow> => {
    const { quiz } = await lockOwnQuiz(tx, input.id, input.producer);
    if (quiz.state === 'draft') throw new Refusal('conflict', 'The quiz is not published yet.');
    if (quiz.state === 'open') {
      throw new Refusal('conflict', 'The quiz is still open; reveal it once it has closed.');
    }
    if (quiz.state === 'closed') await reveal(tx, quiz);
    return ownQuiz(tx, input.id, input.producer);
  }),

  /** A published quiz, for checking answers; null for drafts and unknown ids. */
  findPublishedQuiz: reading(async (tx, { id }: { id: string }): Promise<PublishedQuiz | null> => {
    const quiz = await find(tx, id);
    return quiz && isPublished(quiz) ? quiz : null;
  }),
};

/**
 * The sealed interval that holds the event of the quiz that was published last of those that are
 * open in this interval; null: there is none.
 */
export async function openQuizInterval(
  tx: Tx,
  streamId: string,
  interval: number,
): Promise<number | null> {
  const [row] = await tx.query<{ told: number }>(
    `select told_interval as told from quizzes where stream_id = $1 and state = 'open'
     and told_interval is not null and close_interval > $2 order by told_interval desc limit 1`,
    [streamId, interval],
  );
  return row ? Number(row.told) : null;
}

/**
 * Part of sealing: notes that the events of these quizzes are in this interval. Nobody settles or
 * changes a quiz that is just published, so it waits for nobody.
 */
export async function noteTold(tx: Tx, ids: readonly string[], interval: number): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update quizzes set told_interval = $2
     where id in (select id from ${tx.rows('$1', ['id text'])} told)`,
    [JSON.stringify(ids.map((id) => [id])), interval],
  );
}

function isPublished(quiz: QuizRow): quiz is PublishedQuiz {
  return quiz.created !== null && quiz.closeInterval !== null;
}

async function reveal(tx: Tx, quiz: QuizRow): Promise<void> {
  if (!isPublished(quiz) || quiz.counts === null) throw new Error(`quiz ${quiz.id} has no counts`);
  // The guard of I4: of two reveals, one finds the quiz closed.
  const { affected } = await tx.query(
    `update quizzes set state = 'revealed' where id = $1 and state = 'closed'`,
    [quiz.id],
  );
  if (affected === 1) {
    await recordEvent(tx, quiz.streamId, 'quiz-results', quizResultsEvent(quiz, quiz.counts));
  }
}

/** What closing brought about. */
export interface Closed {
  /** Events that follow of themselves. */
  readonly results: readonly ResultEvent[];
  /** What webhooks are told. */
  readonly happenings: readonly WebhookEvent[];
}

/**
 * Due work, part of sealing: closes these quizzes and counts them, in the one transaction. A quiz
 * whose answers are being recorded stays due; an answer that comes after finds the quiz closed.
 * @returns the results of those that reveal themselves, and each that it closed
 */
export async function closeQuizzes(tx: Tx, numbers: readonly number[]): Promise<Closed> {
  if (numbers.length === 0) return { results: [], happenings: [] };
  const due = await tx.query<Stored>(
    `select ${COLUMNS} from quizzes where number in
     (select number from ${tx.rows('$1', ['number integer'])} due)
     order by number ${tx.locks.settle}`,
    [JSON.stringify(numbers.map((number) => [number]))],
  );
  const closed: [number: number, state: QuizState, counts: string][] = [];
  const results: ResultEvent[] = [];
  const happenings: WebhookEvent[] = [];
  if (due.length === 0) return { results, happenings };
  for (const quiz of due.map(fromRow)) {
    // A statement after that of the lock: it sees every answer that was recorded before.
    const counts = await countAnswers(tx, quiz);
    let state: QuizState = 'closed';
    if (quiz.reveal === 'auto') {
      state = 'revealed';
      results.push(resultsOf(quiz, counts));
    }
    closed.push([quiz.number, state, JSON.stringify(counts)]);
    happenings.push(closeOf(quiz, counts, state));
  }
  await tx.query(
    `update quizzes set state = closed.state, counts = closed.counts
     from ${tx.rows('$1', ['number integer', 'state text', 'counts text'])} closed
     where quizzes.number = closed.number`,
    [JSON.stringify(closed)],
  );
  return { results, happenings };
}

function resultsOf(quiz: QuizRow, counts: readonly number[]): ResultEvent {
  const data = JSON.stringify(quizResultsEvent(published(quiz), counts));
  return { streamId: quiz.streamId, type: 'quiz-results', data };
}

function closeOf(quiz: QuizRow, counts: readonly number[], state: QuizState): WebhookEvent {
  const data = quizClosed(published(quiz), counts, state);
  return { type: 'quiz.closed', streamId: quiz.streamId, key: quiz.id, data };
}

function published(quiz: QuizRow): PublishedQuiz {
  if (!isPublished(quiz)) throw new Error(`quiz ${quiz.id} was never published`);
  return quiz;
}

/**
 * The answers to a quiz that are recorded, in the order of its choices. One sum for each choice and
 * not groups, which SQLite would sort first: three times the time.
 */
export async function countAnswers(tx: Tx, quiz: QuizRow): Promise<number[]> {
  const sums = quiz.choices.map((_, choice) => `count(*) filter (where choice = ${choice})`);
  const named = sums.map((sum, choice) => `${sum} as choice_${choice}`).join(', ');
  const [row] = await tx.query<{ [name: string]: number }>(
    `select ${named} from answers where quiz = $1`,
    [quiz.number],
  );
  return quiz.choices.map((_, choice) => Number(row?.[`choice_${choice}`]));
}
