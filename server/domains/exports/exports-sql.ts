import type { EventsInterval } from '../../../protocol/feed.ts';
import type { LoggedMessage } from '../../../protocol/history.ts';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { readSealedForward } from '../../realtime/feed/sealed-pages.ts';
import { sealedPage } from '../../realtime/feed/sealed-sql.ts';
import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';
import { messagesIn, withHiddenFlag } from '../moderation/sent-message-sql.ts';
import { type OwnStream, ownStream } from '../streams/streams-sql.ts';

/** A page of the answers of a quiz, or of the winners of a round, by seat. */
export interface ExportPage {
  /** Number of the quiz or round. */
  readonly parentNumber: number;
  /** Only rows with a higher seat; −1 for the first page. */
  readonly afterSeat: number;
  /** Only rows that arrived until this time, Unix ms: the start of the export. */
  readonly untilMs: number;
  readonly limit: number;
}

/** A recorded answer; `at` is when it arrived, Unix ms. */
export interface ExportedAnswer {
  readonly quizId: string;
  readonly viewer: string;
  readonly seat: number;
  readonly choice: string;
  readonly correct: boolean;
  readonly at: number;
  readonly question: string;
}

/** A recorded winner; `at` is when the report arrived, Unix ms. */
export interface StoredWinner {
  readonly roundId: string;
  readonly viewer: string;
  readonly seat: number;
  readonly at: number;
  /** Number of the round in its stream, from 1. */
  readonly round: number;
  /** The viewer's last name in the chat; null: none. */
  readonly name: string | null;
  /** The questions of the round, possibly abbreviated. */
  readonly questions: string;
}

/** The contact details of a winner; `at` is when they were sent, Unix ms. */
export interface StoredContact {
  readonly roundId: string;
  readonly viewer: string;
  readonly seat: number;
  readonly name: string;
  readonly contact: string;
  readonly at: number;
}

export interface ExportedContact extends StoredContact {
  readonly code: string;
}

export interface ExportedWinner extends StoredWinner {
  readonly code: string;
}

/** A viewer count as published; `at` is the start of its interval, Unix ms. */
export interface ExportedCount {
  readonly interval: number;
  readonly at: number;
  readonly count: number;
}

/** A choice of a closed quiz, with its final count. */
export interface ExportedResult {
  readonly quizId: string;
  readonly question: string;
  readonly choice: string;
  readonly correct: boolean;
  readonly count: number;
  readonly percentage: number;
}

export interface IntervalPage<Row> {
  readonly rows: readonly Row[];
  /** First interval of the next page; null after the last page. */
  readonly next: number | null;
}

interface IntervalRange {
  readonly streamId: string;
  /** First and last interval. */
  readonly from: number;
  readonly to: number;
}

// No deadline for a page: a client whose export breaks off has to read it again from the start.
const NO_DEADLINE = { noDeadline: true };
/** Limits of a page of intervals; reading and parsing it takes a few milliseconds. */
const PAGE_LIMITS = { limit: 240, bytesMax: 256 * 1024 };

/** Every winner has the questions of its round beside it, so their text is bounded. */
const QUESTIONS_MAX = 100;
const QUESTIONS_CHARS = 1_000;

export const exportProcedures = {
  /** Numbers of the published quizzes, in order. @throws DomainError `not-found` */
  listExportedQuizzes: readProcedure((tx, own: OwnStream) =>
    numbersOf(tx, own, `quizzes where stream_id = $1 and state <> 'draft'`),
  ),

  /** Numbers of the winners rounds, in order. @throws DomainError `not-found` */
  listExportedRounds: readProcedure((tx, own: OwnStream) =>
    numbersOf(tx, own, 'winners_rounds where stream_id = $1'),
  ),

  /** A page of a quiz's answers, by seat. */
  exportAnswers: readProcedure(async (tx, page: ExportPage): Promise<ExportedAnswer[]> => {
    const [quiz] = await tx.query<{
      id: string;
      question: string;
      choices: string;
      answer: number;
    }>('select id, question, choices, answer from quizzes where number = $1', [page.parentNumber]);
    if (!quiz) return [];
    const choices: string[] = JSON.parse(quiz.choices);
    const rows = await tx.query<{ viewer: string; seat: number; choice: number; at: number }>(
      `select s.viewer as viewer, a.seat as seat, a.choice as choice, a.received as at
       from answers a
       join quizzes q on q.number = a.quiz
       join seats s on s.stream_id = q.stream_id and s.seat = a.seat
       where a.quiz = $1 and a.seat > $2 and a.received <= $3 order by a.seat limit $4`,
      [page.parentNumber, page.afterSeat, page.untilMs, page.limit],
    );
    return rows.map(({ viewer, seat, choice, at }) => ({
      quizId: quiz.id,
      viewer,
      seat,
      choice: choices[choice] ?? '',
      correct: choice === quiz.answer,
      at,
      question: quiz.question,
    }));
  }, NO_DEADLINE),

  /** A page of a round's winners, by seat. */
  exportWinners: readProcedure(async (tx, page: ExportPage): Promise<StoredWinner[]> => {
    const rows = await tx.query<Omit<StoredWinner, 'round' | 'questions'>>(
      `select r.id as "roundId", s.viewer as viewer, w.seat as seat, w.received as at, s.name as name
       from winners w
       join winners_rounds r on r.number = w.round
       join seats s on s.stream_id = r.stream_id and s.seat = w.seat
       where w.round = $1 and w.seat > $2 and w.received <= $3 order by w.seat limit $4`,
      [page.parentNumber, page.afterSeat, page.untilMs, page.limit],
    );
    if (rows.length === 0) return [];
    const round = await readRound(tx, page.parentNumber);
    return rows.map((row) => ({ ...row, ...round }));
  }, NO_DEADLINE),

  /** A page of the contact details of a round's winners, by seat. */
  exportContacts: readProcedure(async (tx, page: ExportPage): Promise<StoredContact[]> => {
    const rows = await tx.query<StoredContact>(
      `select r.id as "roundId", s.viewer as viewer, c.seat as seat, c.name as name,
         c.contact as contact, c.created as at
       from winner_contacts c
       join winners_rounds r on r.number = c.round
       join seats s on s.stream_id = r.stream_id and s.seat = c.seat
       where c.round = $1 and c.seat > $2 and c.created <= $3 order by c.seat limit $4`,
      [page.parentNumber, page.afterSeat, page.untilMs, page.limit],
    );
    return [...rows];
  }, NO_DEADLINE),

  /** A page of a stream's sealed intervals, with the bodies that viewers read. */
  exportFeed: readProcedure(sealedPage, NO_DEADLINE),

  /** A page of the published viewer counts, in order. */
  exportCounts: readProcedure(
    (tx, range: IntervalRange) => intervalPage(tx, range, countsIn),
    NO_DEADLINE,
  ),

  /** A page of the published chat messages, in order. */
  exportMessages: readProcedure(
    async (tx, range: IntervalRange): Promise<IntervalPage<LoggedMessage>> => {
      const { rows, next } = await intervalPage(tx, range, messagesIn);
      return { rows: (await withHiddenFlag(tx, range.streamId, rows)).map(inColumnOrder), next };
    },
    NO_DEADLINE,
  ),
};

/** The number of a round in its stream, and its questions. */
async function readRound(
  tx: Tx,
  number: number,
): Promise<Pick<StoredWinner, 'round' | 'questions'>> {
  const [row] = await tx.query<{ round: number }>(
    `select count(*) as round from winners_rounds earlier
     join winners_rounds r on r.stream_id = earlier.stream_id and earlier.number <= r.number
     where r.number = $1`,
    [number],
  );
  const questions = await tx.query<{ question: string }>(
    `select q.question as question from quizzes q
     join winners_rounds r on r.stream_id = q.stream_id and r.game = q.game
     where r.number = $1 order by q.number limit $2`,
    [number, QUESTIONS_MAX],
  );
  const text = questions.map(({ question }) => question).join(' · ');
  const isLong = text.length > QUESTIONS_CHARS;
  const abbreviated = isLong ? `${text.slice(0, QUESTIONS_CHARS).toWellFormed()}…` : text;
  return { round: Number(row?.round ?? 1), questions: abbreviated };
}

async function numbersOf(tx: Tx, { streamId, producer }: OwnStream, source: string) {
  await ownStream(tx, streamId, producer);
  const rows = await tx.query<{ number: number }>(`select number from ${source} order by number`, [
    streamId,
  ]);
  return rows.map(({ number }) => number);
}

async function intervalPage<Row>(
  tx: Tx,
  range: IntervalRange,
  rowsOf: (interval: EventsInterval) => Row[],
): Promise<IntervalPage<Row>> {
  const { intervals, next } = await readSealedForward(tx, { ...range, ...PAGE_LIMITS });
  return { rows: intervals.flatMap(rowsOf), next };
}

function countsIn({ interval, events }: EventsInterval): ExportedCount[] {
  const at = intervalStartMs(interval);
  return events
    .filter(({ type }) => type === 'view-count')
    .map(({ data }) => ({ interval, at, count: (data as { value: number }).value }));
}

/** Puts the fields into the order of the columns. */
function inColumnOrder(message: LoggedMessage): LoggedMessage {
  const { interval, at, kind, id, viewer, name, text, hidden } = message;
  return { interval, at, kind, id, viewer, name, text, hidden };
}
