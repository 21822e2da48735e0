import type { Store } from '../../app/procedures.ts';
import type { SealedBody } from '../../realtime/feed/sealing-sql.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type {
  ExportedAnswer,
  ExportedCount,
  ExportedLine,
  ExportedResult,
  ExportedWinner,
  ExportPage,
  FeedPage,
} from './exports-sql.ts';

/** Rows in one answer of the database, and so in memory at once. */
const PAGE_ROWS = 1_000;
// A row of the feed is all events of an interval and can have a hundred kilobytes.
const FEED_PAGE_ROWS = 100;
// A quiz is as many rows as it has choices.
const QUIZZES_A_PAGE = 100;

/** Pages of rows; the last one read is the only one in memory. */
export type Pages<Row> = AsyncGenerator<readonly Row[]>;

export interface ExportSource {
  readonly store: Pick<
    Store,
    | 'listExportedQuizzes'
    | 'listExportedRounds'
    | 'exportAnswers'
    | 'exportWinners'
    | 'exportFeed'
    | 'exportCounts'
    | 'exportLines'
    | 'listQuizzes'
    | 'findOwnStream'
    | 'readWatermark'
  >;
  readonly streamId: string;
  readonly producer: string;
  readonly nowMs: number;
}

/*
 * Each of these asks the database once before it answers, so that an unknown stream is told before
 * the first byte. That first question also sets the end of the export (SPEC P-27): rows that
 * arrive later are left out, however long the reading takes.
 */

/** Every answer of a stream, by quiz and seat. @throws Refusal `not-found` */
export async function answerPages(source: ExportSource): Promise<Pages<ExportedAnswer>> {
  const { store, streamId, producer, nowMs } = source;
  const quizzes = await store.listExportedQuizzes({ streamId, producer });
  return bySeat(quizzes, nowMs, store.exportAnswers);
}

/** Every winner of a stream, by round and seat. @throws Refusal `not-found` */
export async function winnerPages(source: ExportSource): Promise<Pages<ExportedWinner>> {
  const { store, streamId, producer, nowMs } = source;
  const rounds = await store.listExportedRounds({ streamId, producer });
  return bySeat(rounds, nowMs, store.exportWinners);
}

/** Every stored interval of a stream up to the last that is sealed. @throws Refusal `not-found` */
export async function feedPages(source: ExportSource): Promise<Pages<SealedBody>> {
  const { store, streamId } = source;
  const to = await lastSealed(source);
  return seek(
    FEED_PAGE_ROWS,
    (after) => store.exportFeed({ streamId, from: after + 1, to, limit: FEED_PAGE_ROWS }),
    (row) => row.interval,
  );
}

/** Every count that viewers were told of. @throws Refusal `not-found` */
export async function audiencePages(source: ExportSource): Promise<Pages<ExportedCount>> {
  return byInterval(source, await lastSealed(source), source.store.exportCounts);
}

/** Every line of the chat that viewers were sent. @throws Refusal `not-found` */
export async function chatPages(source: ExportSource): Promise<Pages<ExportedLine>> {
  return byInterval(source, await lastSealed(source), source.store.exportLines);
}

/** Every choice of the quizzes that have closed, in the order of the rundown. @throws Refusal `not-found` */
export async function resultPages(source: ExportSource): Promise<Pages<ExportedResult>> {
  const { store, streamId, producer } = source;
  const { quizzes } = await store.listQuizzes({ streamId, producer });
  return inChunks(quizzes);
}

async function* inChunks(quizzes: readonly QuizRow[]): Pages<ExportedResult> {
  for (let at = 0; at < quizzes.length; at += QUIZZES_A_PAGE) {
    yield quizzes.slice(at, at + QUIZZES_A_PAGE).flatMap(resultsOf);
  }
}

function resultsOf({ id, question, choices, answer, counts }: QuizRow): ExportedResult[] {
  if (counts === null) return [];
  const byChoice = choiceCounts(choices, counts);
  return choices.map((choice, index) => ({
    quizId: id,
    question,
    choice,
    correct: index === answer,
    count: byChoice[choice]?.count ?? 0,
    percentage: byChoice[choice]?.percentage ?? 0,
  }));
}

/** The last interval that is sealed, of a stream of this producer. @throws Refusal `not-found` */
async function lastSealed({ store, streamId, producer }: ExportSource): Promise<number> {
  await store.findOwnStream({ id: streamId, producer });
  return store.readWatermark({});
}

async function* byInterval<Row>(
  { streamId }: ExportSource,
  to: number,
  read: (stretch: { streamId: string; from: number; to: number }) => Promise<FeedPage<Row>>,
): Pages<Row> {
  for (let from: number | null = 0; from !== null; ) {
    const page: FeedPage<Row> = await read({ streamId, from, to });
    yield page.rows;
    from = page.next;
  }
}

async function* bySeat<Row extends { readonly seat: number }>(
  numbers: readonly number[],
  untilMs: number,
  read: (page: ExportPage) => Promise<Row[]>,
): Pages<Row> {
  for (const of of numbers) {
    yield* seek(
      PAGE_ROWS,
      (afterSeat) => read({ of, afterSeat, untilMs, limit: PAGE_ROWS }),
      (row) => row.seat,
    );
  }
}

/** Page after page, each from behind the last key of the one before. */
async function* seek<Row>(
  limit: number,
  read: (after: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => number,
): Pages<Row> {
  let after = -1;
  for (;;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    if (rows.length < limit) return;
    after = keyOf(last);
  }
}
