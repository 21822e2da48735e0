import type { LoggedMessage } from '../../../protocol/history.ts';
import type { Step } from '../../platform/pace.ts';
import type { SealedBody, sealedProcedures } from '../../realtime/feed/sealed-sql.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type { WinnerCode } from '../quizzes/winner-code.ts';
import { memoryOf, type RundownStore, readRundown } from '../rundown/read-rundown.ts';
import type { streamProcedures } from '../streams/streams-sql.ts';
import type {
  ExportedAnswer,
  ExportedContact,
  ExportedCount,
  ExportedResult,
  ExportedWinner,
  ExportPage,
  exportProcedures,
  IntervalPage,
} from './exports-sql.ts';

/** Rows of one page, and so the most in memory at once. */
const PAGE_ROWS = 1_000;
/**
 * Most rows and bytes of a page of the feed; its last row may exceed them. A row holds all events of an interval,
 * up to 600 KB: a page of 24 MB stopped all requests for 0.2 s and the database for 0.5 s.
 */
const FEED_PAGE = { limit: 100, bytesMax: 256 * 1024 };
// A quiz has one row per choice.
const QUIZZES_PER_PAGE = 100;

/** Pages of rows, read on demand: only the current page is in memory. */
export type Pages<Row> = AsyncGenerator<readonly Row[]>;

export interface ExportSource {
  readonly store: Calls<typeof exportProcedures> &
    RundownStore &
    Pick<Calls<typeof streamProcedures>, 'findOwnStream'> &
    Pick<Calls<typeof sealedProcedures>, 'readWatermark'>;
  readonly streamId: string;
  readonly producer: string;
  readonly nowMs: number;
  readonly winnerCode: WinnerCode;
  /** Runs a step of what is read before the first page. */
  readonly step: Step;
  /** Receives the memory of what is kept until the last page, bytes. */
  readonly onKept: (bytes: number) => void;
}

/*
 * Each of these functions calls the database before it returns, so that an unknown stream gets
 * an error before the first byte. This also fixes the end of the export (SPEC P-27): rows that
 * arrive later are left out, however long the client reads.
 */

/** Every answer of a stream, by quiz and seat. @throws DomainError `not-found` */
export async function answerPages(source: ExportSource): Promise<Pages<ExportedAnswer>> {
  const { store, streamId, producer, nowMs } = source;
  const quizzes = await store.listExportedQuizzes({ streamId, producer });
  return bySeat(quizzes, nowMs, store.exportAnswers);
}

/** Every winner of a stream, by round and seat. @throws DomainError `not-found` */
export async function winnerPages(source: ExportSource): Promise<Pages<ExportedWinner>> {
  const { store, streamId, producer, nowMs, winnerCode } = source;
  const rounds = await store.listExportedRounds({ streamId, producer });
  return bySeat(rounds, nowMs, async (page) =>
    (await store.exportWinners(page)).map((winner) => ({
      ...winner,
      code: winnerCode(streamId, winner.seat),
    })),
  );
}

/** The contact details of every winner who gave them, by round and seat. @throws DomainError `not-found` */
export async function contactPages(source: ExportSource): Promise<Pages<ExportedContact>> {
  const { store, streamId, producer, nowMs, winnerCode } = source;
  const rounds = await store.listExportedRounds({ streamId, producer });
  return bySeat(rounds, nowMs, async (page) =>
    (await store.exportContacts(page)).map((contact) => ({
      ...contact,
      code: winnerCode(streamId, contact.seat),
    })),
  );
}

/** Every sealed interval of a stream with events. @throws DomainError `not-found` */
export async function feedPages(source: ExportSource): Promise<Pages<SealedBody>> {
  const { store, streamId } = source;
  const to = await lastSealed(source);
  return keysetPages(
    1, // Its bytes may end a page after any row.
    (after) => store.exportFeed({ streamId, from: after + 1, to, ...FEED_PAGE }),
    (row) => row.interval,
  );
}

/** Every published viewer count. @throws DomainError `not-found` */
export async function audiencePages(source: ExportSource): Promise<Pages<ExportedCount>> {
  return byInterval(source, await lastSealed(source), source.store.exportCounts);
}

/** Every published chat message. @throws DomainError `not-found` */
export async function chatPages(source: ExportSource): Promise<Pages<LoggedMessage>> {
  return byInterval(source, await lastSealed(source), source.store.exportMessages);
}

/** Every choice of the closed quizzes, in the order of the rundown. @throws DomainError `not-found` */
export async function resultPages(source: ExportSource): Promise<Pages<ExportedResult>> {
  const { store, streamId, producer, step, onKept } = source;
  const rundown = await readRundown(store, { streamId, producer }, step, closedQuiz);
  const quizzes = rundown.quizzes.filter((quiz) => quiz !== null);
  onKept(memoryOf(quizzes));
  return resultsByQuiz(quizzes);
}

/** A quiz with its final counts. */
type ClosedQuiz = QuizRow & { readonly counts: readonly number[] };

const closedQuiz = ({ counts, ...quiz }: QuizRow): ClosedQuiz | null =>
  counts === null ? null : { ...quiz, counts };

async function* resultsByQuiz(quizzes: readonly ClosedQuiz[]): Pages<ExportedResult> {
  for (let start = 0; start < quizzes.length; start += QUIZZES_PER_PAGE) {
    yield quizzes.slice(start, start + QUIZZES_PER_PAGE).flatMap(resultsOf);
  }
}

function resultsOf({ id, question, choices, answer, counts }: ClosedQuiz): ExportedResult[] {
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

/** The watermark; checks that the producer owns the stream. @throws DomainError `not-found` */
async function lastSealed({ store, streamId, producer }: ExportSource): Promise<number> {
  await store.findOwnStream({ id: streamId, producer });
  return store.readWatermark({});
}

async function* byInterval<Row>(
  { streamId }: ExportSource,
  to: number,
  read: (range: { streamId: string; from: number; to: number }) => Promise<IntervalPage<Row>>,
): Pages<Row> {
  for (let from: number | null = 0; from !== null; ) {
    const page: IntervalPage<Row> = await read({ streamId, from, to });
    yield page.rows;
    from = page.next;
  }
}

async function* bySeat<Row extends { readonly seat: number }>(
  numbers: readonly number[],
  untilMs: number,
  read: (page: ExportPage) => Promise<Row[]>,
): Pages<Row> {
  for (const parentNumber of numbers) {
    yield* keysetPages(
      PAGE_ROWS,
      (afterSeat) => read({ parentNumber, afterSeat, untilMs, limit: PAGE_ROWS }),
      (row) => row.seat,
    );
  }
}

/**
 * Keyset pagination: each page begins after the last key of the previous one.
 * @param fullRows a page with fewer rows is the last one
 */
async function* keysetPages<Row>(
  fullRows: number,
  read: (after: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => number,
): Pages<Row> {
  let after = -1;
  for (;;) {
    const rows = await read(after);
    // Also without rows: each read has its turn (L-20), and 2,000 quizzes without answers took 0.2 to 4 s.
    yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < fullRows) return;
    after = keyOf(last);
  }
}
