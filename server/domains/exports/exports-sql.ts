import type { EventsInterval } from '../../../protocol/feed.ts';
import type { LoggedLine } from '../../../protocol/history.ts';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { sealingProcedures } from '../../realtime/feed/sealing-sql.ts';
import { reading, type Tx } from '../../storage/sql/procedure.ts';
import { linesIn, marked } from '../moderation/sent-message-sql.ts';
import { ownStream } from '../streams/streams-sql.ts';

/** A page of what belongs to one quiz or round, by seat. */
export interface ExportPage {
  /** Number of the quiz or round. */
  readonly of: number;
  /** Rows of later seats only; −1 for the first page. */
  readonly afterSeat: number;
  /** Rows that arrived until then, Unix ms: what comes later is not of this export. */
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
}

/** A recorded winner; `at` is when the report arrived, Unix ms. */
export interface ExportedWinner {
  readonly roundId: string;
  readonly viewer: string;
  readonly seat: number;
  readonly at: number;
}

/** How many viewers were told of; `at` is the begin of the interval, Unix ms. */
export interface ExportedCount {
  readonly interval: number;
  readonly at: number;
  readonly count: number;
}

/** A line of the chat, as viewers were sent it. */
export type ExportedLine = LoggedLine;

/** A choice of a quiz that has closed, with its final count. */
export interface ExportedResult {
  readonly quizId: string;
  readonly question: string;
  readonly choice: string;
  readonly correct: boolean;
  readonly count: number;
  readonly percentage: number;
}

/** What is in a stretch of the feed, as much of it as is read at once. */
export interface FeedPage<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; null after the last. */
  readonly next: number | null;
}

interface Stretch {
  readonly streamId: string;
  /** First and last interval. */
  readonly from: number;
  readonly to: number;
}

interface OwnStream {
  readonly streamId: string;
  readonly producer: string;
}

// Nobody waits for a page at a deadline, and an export that is cut short must be read again.
const PATIENT = { patient: true };
// So much of the feed is read and taken apart within some milliseconds.
const STRETCH_INTERVALS = 240;
const STRETCH_BYTES = 256 * 1024;

export const exportProcedures = {
  /** Numbers of the quizzes that may have answers, in order. @throws Refusal `not-found` */
  listExportedQuizzes: reading(async (tx, { streamId, producer }: OwnStream): Promise<number[]> => {
    await ownStream(tx, streamId, producer);
    const rows = await tx.query<{ number: number }>(
      `select number from quizzes where stream_id = $1 and state <> 'draft' order by number`,
      [streamId],
    );
    return rows.map(({ number }) => number);
  }),

  /** Numbers of the winners rounds, in order. @throws Refusal `not-found` */
  listExportedRounds: reading(async (tx, { streamId, producer }: OwnStream): Promise<number[]> => {
    await ownStream(tx, streamId, producer);
    const rows = await tx.query<{ number: number }>(
      'select number from winners_rounds where stream_id = $1 order by number',
      [streamId],
    );
    return rows.map(({ number }) => number);
  }),

  /** A page of a quiz's answers, by seat. */
  exportAnswers: reading(async (tx, page: ExportPage): Promise<ExportedAnswer[]> => {
    const [quiz] = await tx.query<{ id: string; choices: string; answer: number }>(
      'select id, choices, answer from quizzes where number = $1',
      [page.of],
    );
    if (!quiz) return [];
    const choices: string[] = JSON.parse(quiz.choices);
    const rows = await tx.query<{ viewer: string; seat: number; choice: number; at: number }>(
      `select s.viewer as viewer, a.seat as seat, a.choice as choice, a.received as at
       from answers a
       join quizzes q on q.number = a.quiz
       join seats s on s.stream_id = q.stream_id and s.seat = a.seat
       where a.quiz = $1 and a.seat > $2 and a.received <= $3 order by a.seat limit $4`,
      [page.of, page.afterSeat, page.untilMs, page.limit],
    );
    return rows.map(({ viewer, seat, choice, at }) => ({
      quizId: quiz.id,
      viewer,
      seat,
      choice: choices[choice] ?? '',
      correct: choice === quiz.answer,
      at,
    }));
  }, PATIENT),

  /** A page of a round's winners, by seat. */
  exportWinners: reading(async (tx, page: ExportPage): Promise<ExportedWinner[]> => {
    const rows = await tx.query<ExportedWinner>(
      `select r.id as "roundId", s.viewer as viewer, w.seat as seat, w.received as at
       from winners w
       join winners_rounds r on r.number = w.round
       join seats s on s.stream_id = r.stream_id and s.seat = w.seat
       where w.round = $1 and w.seat > $2 and w.received <= $3 order by w.seat limit $4`,
      [page.of, page.afterSeat, page.untilMs, page.limit],
    );
    return [...rows];
  }, PATIENT),

  /** A page of a stream's stored intervals, as viewers read them. */
  exportFeed: reading(sealingProcedures.readSealed.run, PATIENT),

  /** A page of the counts that viewers were told of, in order. */
  exportCounts: reading((tx, stretch: Stretch) => feedPage(tx, stretch, countsIn), PATIENT),

  /** A page of the lines that viewers were sent, in order. */
  exportLines: reading(async (tx, stretch: Stretch): Promise<FeedPage<ExportedLine>> => {
    const { rows, next } = await feedPage(tx, stretch, linesIn);
    return { rows: (await marked(tx, stretch.streamId, rows)).map(inOrder), next };
  }, PATIENT),
};

async function feedPage<Row>(
  tx: Tx,
  stretch: Stretch,
  rowsOf: (body: EventsInterval) => Row[],
): Promise<FeedPage<Row>> {
  const limits = { limit: STRETCH_INTERVALS, bytesMax: STRETCH_BYTES };
  const bodies = await sealingProcedures.readSealed.run(tx, { ...stretch, ...limits });
  const last = bodies.at(-1);
  return {
    rows: bodies.flatMap(({ body }) => rowsOf(JSON.parse(body))),
    next: last ? Number(last.interval) + 1 : null,
  };
}

function countsIn({ interval, events }: EventsInterval): ExportedCount[] {
  const at = intervalStartMs(interval);
  return events
    .filter(({ type }) => type === 'view-count')
    .map(({ data }) => ({ interval, at, count: (data as { value: number }).value }));
}

/** The members in the order of the columns. */
function inOrder({ interval, at, kind, id, viewer, name, text, hidden }: LoggedLine): ExportedLine {
  return { interval, at, kind, id, viewer, name, text, hidden };
}
