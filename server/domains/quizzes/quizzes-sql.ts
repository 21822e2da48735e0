import type { QuizState, Reveal } from '../../../protocol/quizzes.ts';
import type { NewQuiz, QuizPatch } from '../../../protocol/studio.ts';
import { DomainError } from '../../platform/errors.ts';
import type { DueResult, DueRow } from '../../realtime/feed/due-work.ts';
import type { ResultEvent } from '../../realtime/feed/interval-body.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { lastNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { addDrafts, incrementRundownRevision } from '../rundown/drafts-sql.ts';
import { lockOwnStream, type OwnId, type StreamRow } from '../streams/streams-sql.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import { closeIntervalOf, quizClosedData, quizEventData, quizResultsData } from './quiz-rules.ts';

/** A row of `quizzes`; `answer` is an index into `choices`. */
export interface QuizRow {
  readonly id: string;
  /** The short key by which answers refer to the quiz. */
  readonly number: number;
  readonly position: number;
  readonly streamId: string;
  readonly state: QuizState;
  /** Incremented by every change of the draft. */
  readonly revision: number;
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: number;
  readonly durationMs: number;
  readonly reveal: Reveal;
  /** When it was published, Unix ms. */
  readonly created: number | null;
  readonly closeInterval: number | null;
  readonly game: number | null;
  /** Final counts in the order of `choices`; null until the quiz is closed. */
  readonly counts: readonly number[] | null;
}

/** A quiz that has been published: its times are set. */
export type PublishedQuiz = QuizRow & { readonly created: number; readonly closeInterval: number };

const COLUMNS = `id, number, position, stream_id as "streamId", state, revision, question, choices, answer,
  duration_ms as "durationMs", reveal, created, close_interval as "closeInterval", game, counts`;

type StoredQuiz = Omit<QuizRow, 'choices' | 'counts'> & { choices: string; counts: string | null };

const fromRow = (row: StoredQuiz): QuizRow => ({
  ...row,
  choices: JSON.parse(row.choices),
  counts: row.counts === null ? null : JSON.parse(row.counts),
});

/**
 * The part of a quiz that its producer wrote, as a draft or a file has it.
 * @throws RangeError when the row's answer does not fit its choices
 */
export function newQuizOf({ id, question, choices, reveal, ...row }: QuizRow): NewQuiz {
  const answer = choices[row.answer];
  if (answer === undefined) throw new RangeError(`quiz ${id} has no choice ${row.answer}`);
  return { question, choices: [...choices], answer, duration: row.durationMs, reveal };
}

/** The quiz that was published last in a stream; null when there is none. */
export async function latestPublished(tx: Tx, streamId: string): Promise<QuizRow | null> {
  const [row] = await tx.query<StoredQuiz>(
    `select ${COLUMNS} from quizzes where stream_id = $1 and created is not null
     order by created desc, number desc limit 1`,
    [streamId],
  );
  return row ? fromRow(row) : null;
}

/**
 * A quiz of this producer. A quiz of another producer is "not found" too, so that ids cannot be probed.
 * @throws DomainError `not-found`
 */
export async function ownQuiz(tx: Tx, id: string, producer: string): Promise<QuizRow> {
  const [row] = await tx.query<StoredQuiz>(
    `select ${COLUMNS} from quizzes where id = $1
     and exists (select 1 from streams s where s.id = quizzes.stream_id and s.producer = $2)`,
    [id, producer],
  );
  if (!row) throw new DomainError('not-found', 'This account has no such quiz.');
  return fromRow(row);
}

/**
 * Locks the stream of a quiz of this producer, then reads the quiz, so that only a close can change
 * the quiz until the transaction ends.
 * @throws DomainError `not-found`
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

/** A page of the quizzes of a stream: up to `limit` with the lowest numbers above `after`. */
export interface QuizPage {
  readonly after: number;
  readonly limit: number;
}

/** Quizzes of a stream, in the order of its rundown. */
export async function quizzesOf(
  tx: Tx,
  streamId: string,
  { after, limit }: QuizPage,
): Promise<QuizRow[]> {
  const rows = await tx.query<StoredQuiz>(
    `select * from (
       select ${COLUMNS} from quizzes where stream_id = $1 and number > $2 order by number limit $3
     ) page order by position, number`,
    [streamId, after, limit],
  );
  return rows.map(fromRow);
}

/** Those quizzes of a stream that have one of these ids, in any order. */
export async function quizzesById(
  tx: Tx,
  streamId: string | null,
  ids: readonly string[],
): Promise<QuizRow[]> {
  // A condition on the stream, too, would make SQLite read all its quizzes.
  const rows = await tx.query<StoredQuiz>(
    `select ${COLUMNS} from quizzes
     where id in (select wanted from ${tx.rows('$1', ['wanted text'])} ids)`,
    [JSON.stringify(ids.map((id) => [id]))],
  );
  return rows.map(fromRow).filter((quiz) => quiz.streamId === streamId);
}

async function lockOwnDraft(tx: Tx, id: string, producer: string) {
  const found = await lockOwnQuiz(tx, id, producer);
  if (found.quiz.state !== 'draft') {
    throw new DomainError('conflict', 'The quiz is published; only a draft can be changed.');
  }
  return found;
}

export const quizProcedures = {
  createQuiz: writeProcedure(
    async (tx, { id, producer, streamId, quiz }: OwnId & { streamId: string; quiz: NewQuiz }) => {
      await lockOwnStream(tx, streamId, producer);
      await addDrafts(tx, streamId, [{ id, quiz }]);
      return ownQuiz(tx, id, producer);
    },
  ),

  /** The number of the quiz that was created last, in any stream; 0 before the first. */
  lastQuizNumber: readProcedure((tx) => lastNumber(tx, 'quiz')),

  findOwnQuiz: readProcedure((tx, { id, producer }: OwnId) => ownQuiz(tx, id, producer)),

  /** Changes a draft. @throws DomainError `invalid` when the answer would not be one of the choices. */
  patchQuiz: writeProcedure(async (tx, { id, producer, patch }: OwnId & { patch: QuizPatch }) => {
    const { quiz } = await lockOwnDraft(tx, id, producer);
    const before = newQuizOf(quiz);
    const { question = before.question, choices = before.choices, answer = before.answer } = patch;
    const { duration = before.duration, reveal = before.reveal } = patch;
    const index = choices.indexOf(answer);
    if (index < 0) throw new DomainError('invalid', 'answer: must be one of the choices.');
    await tx.query(
      `update quizzes set question = $2, choices = $3, answer = $4, duration_ms = $5, reveal = $6,
         revision = revision + 1 where id = $1`,
      [id, question, JSON.stringify(choices), index, duration, reveal],
    );
    await incrementRundownRevision(tx, quiz.streamId);
    return ownQuiz(tx, id, producer);
  }),

  deleteQuiz: writeProcedure(async (tx, input: OwnId): Promise<void> => {
    const { quiz } = await lockOwnDraft(tx, input.id, input.producer);
    await tx.query('delete from quizzes where id = $1', [input.id]);
    await incrementRundownRevision(tx, quiz.streamId);
  }),

  /** Opens a draft and adds its event to the outbox. @throws DomainError `conflict` */
  publishQuiz: writeProcedure(async (tx, input: OwnId & { nowMs: number }): Promise<QuizRow> => {
    const { quiz, stream } = await lockOwnDraft(tx, input.id, input.producer);
    if (stream.status === 'ENDED') {
      throw new DomainError('conflict', 'The stream has ended; its quizzes cannot be published.');
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
    await recordEvent(tx, quiz.streamId, 'quiz', quizEventData(published));
    await incrementRundownRevision(tx, quiz.streamId);
    return ownQuiz(tx, input.id, input.producer);
  }),

  /** Publishes the results of a closed quiz; does nothing if it is revealed. @throws DomainError `conflict` */
  revealQuiz: writeProcedure(async (tx, input: OwnId): Promise<QuizRow> => {
    const { quiz } = await lockOwnQuiz(tx, input.id, input.producer);
    if (quiz.state === 'draft') throw new DomainError('conflict', 'The quiz is not published yet.');
    if (quiz.state === 'open') {
      throw new DomainError('conflict', 'The quiz is still open; reveal it once it has closed.');
    }
    if (quiz.state === 'closed') await reveal(tx, quiz);
    return ownQuiz(tx, input.id, input.producer);
  }),

  /** Published quizzes in the order of the ids, to validate answers; null for drafts and unknown ids. */
  findPublishedQuizzes: readProcedure(
    async (tx, ids: readonly string[]): Promise<(PublishedQuiz | null)[]> => {
      const rows = await tx.query<StoredQuiz>(
        `select ${COLUMNS} from ${tx.rows('$1', ['asked_id text'])} asked
         join quizzes on quizzes.id = asked_id`,
        [JSON.stringify(ids.map((id) => [id]))],
      );
      const quizzes = new Map(rows.map((row) => [row.id, fromRow(row)]));
      return ids.map((id) => {
        const quiz = quizzes.get(id);
        return quiz && isPublished(quiz) ? quiz : null;
      });
    },
  ),
};

/**
 * The interval that published the quiz that is open in `interval`; null when none is open. If
 * several are open, the last published one counts.
 */
export async function openQuizInterval(
  tx: Tx,
  streamId: string,
  interval: number,
): Promise<number | null> {
  const [row] = await tx.query<{ published: number }>(
    `select told_interval as published from quizzes where stream_id = $1 and state = 'open'
     and told_interval is not null and close_interval > $2 order by told_interval desc limit 1`,
    [streamId, interval],
  );
  return row ? Number(row.published) : null;
}

/**
 * Stores the interval in which quizzes were published. It needs no explicit locks, because no other
 * transaction closes or changes a quiz that was just published.
 */
export async function setPublishedInterval(
  tx: Tx,
  ids: readonly string[],
  interval: number,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update quizzes set told_interval = $2
     where id in (select id from ${tx.rows('$1', ['id text'])} published)`,
    [JSON.stringify(ids.map((id) => [id])), interval],
  );
}

function isPublished(quiz: QuizRow): quiz is PublishedQuiz {
  return quiz.created !== null && quiz.closeInterval !== null;
}

async function reveal(tx: Tx, quiz: QuizRow): Promise<void> {
  if (!isPublished(quiz) || quiz.counts === null) throw new Error(`quiz ${quiz.id} has no counts`);
  // I-4: of two concurrent reveals, only one finds the quiz closed.
  const { affected } = await tx.query(
    `update quizzes set state = 'revealed' where id = $1 and state = 'closed'`,
    [quiz.id],
  );
  if (affected === 1) {
    await recordEvent(tx, quiz.streamId, 'quiz-results', quizResultsData(quiz, quiz.counts));
  }
}

/**
 * Closes and counts due quizzes. It skips a quiz whose answers are being stored, which stays due;
 * answers stored later find the quiz closed. It skips a quiz that the removal of its rehearsal has reset since
 * it was found.
 * @returns `quiz-results` events of quizzes with `auto` reveal, and a webhook event for each closed quiz
 */
export async function closeQuizzes(
  tx: Tx,
  due: readonly Pick<DueRow, 'number'>[],
): Promise<DueResult<WebhookEvent>> {
  const rows = await tx.query<StoredQuiz>(
    `select ${COLUMNS} from quizzes where number in
     (select number from ${tx.rows('$1', ['number integer'])} due)
     order by number ${tx.locks.settle}`,
    [JSON.stringify(due.map(({ number }) => [number]))],
  );
  const closed: [number: number, state: QuizState, counts: string][] = [];
  const results: ResultEvent[] = [];
  const domainEvents: WebhookEvent[] = [];
  // Not a condition of the statement: with old statistics PostgreSQL could read all open quizzes for each one.
  const open = rows.filter(({ state }) => state === 'open');
  if (open.length === 0) return { results, domainEvents };
  const quizzes = open.map((row) => published(fromRow(row)));
  // This statement follows the lock, so it sees every answer that was stored before.
  const countsOf = await countAnswersOfAll(tx, quizzes);
  for (const quiz of quizzes) {
    const { id, streamId, reveal } = quiz;
    const counts = countsOf.get(quiz.number) as number[];
    const state = reveal === 'auto' ? 'revealed' : 'closed';
    if (state === 'revealed') {
      const data = JSON.stringify(quizResultsData(quiz, counts));
      results.push({ streamId, type: 'quiz-results', data });
    }
    closed.push([quiz.number, state, JSON.stringify(counts)]);
    const data = quizClosedData(quiz, counts, state);
    domainEvents.push({ type: 'quiz.closed', streamId, key: id, data });
  }
  await tx.query(
    `update quizzes set state = closed.state, counts = closed.counts
     from ${tx.rows('$1', ['number integer', 'state text', 'counts text'])} closed
     where quizzes.number = closed.number`,
    [JSON.stringify(closed)],
  );
  return { results, domainEvents };
}

function published(quiz: QuizRow): PublishedQuiz {
  if (!isPublished(quiz)) throw new Error(`quiz ${quiz.id} is not published`);
  return quiz;
}

/**
 * SQL: the number of answers for each choice, separated by commas. One filtered count a choice takes a third of the
 * time of `group by`, for which SQLite sorts first.
 */
export function countsByChoice(choices: number): string {
  const counts = Array.from(
    { length: choices },
    (_, choice) => `cast(count(*) filter (where choice = ${choice}) as text)`,
  );
  return counts.join(` || ',' || `);
}

/**
 * The number of stored answers for each choice, by number of the quiz. One statement for all: with one a
 * quiz, 10,000 quizzes that close together delayed the sealing of all streams by 1.9 s on PostgreSQL. A
 * subquery, so that PostgreSQL reads each quiz by the index and never the whole table.
 */
async function countAnswersOfAll(
  tx: Tx,
  quizzes: readonly QuizRow[],
): Promise<Map<number, number[]>> {
  const choiceCount = Math.max(...quizzes.map(({ choices }) => choices.length));
  const rows = await tx.query<{ number: number; counts: string }>(
    `select number, (select ${countsByChoice(choiceCount)} from answers where quiz = due.number) as counts
     from ${tx.rows('$1', ['number integer'])} due`,
    [JSON.stringify(quizzes.map(({ number }) => [number]))],
  );
  const countsOf = new Map(
    rows.map(({ number, counts }) => [number, counts.split(',').map(Number)]),
  );
  return new Map(
    quizzes.map(({ number, choices }) => [
      number,
      (countsOf.get(number) as number[]).slice(0, choices.length),
    ]),
  );
}
