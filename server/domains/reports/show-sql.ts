import { INTERVAL_MS, intervalAt } from '../../../protocol/interval.ts';
import type { RoundReport } from '../../../protocol/report.ts';
import { readSealedForward } from '../../realtime/feed/sealed-pages.ts';
import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';
import { type AnswerWindow, type QuizFigures, withAnswers } from './answer-figures.ts';
import { type FeedFigures, type Scope, withIntervals } from './feed-figures.ts';
import type { Show, ShowQuiz } from './progress.ts';
import type { QuizResult } from './report-parts.ts';

/*
 * The data of reports, in pages that take a few milliseconds each, so that other readers do not wait.
 * Pages are added up in the procedure: with SQLite that is off the event loop's thread, with
 * PostgreSQL a page takes 0.2 ms of it. The report of a 3 h show with 100,000 answers and 216,000
 * messages takes 2 s (8 s with PostgreSQL) and 30 MB; pages of twice the size are hardly faster.
 */

/** Half a minute of the feed, or less when its intervals are large. */
const INTERVAL_PAGE = { limit: 30_000 / INTERVAL_MS, bytesMax: 128 * 1024 };
const PAGE_ANSWERS = 1_000;
const PAGE_SEATS = 50_000;

export const showProcedures = {
  /** The data of an ended show; null if it has not ended. Its events must be sealed. */
  readShow: readProcedure(async (tx, { streamId }: { streamId: string }): Promise<Show | null> => {
    const [stream] = await tx.query<{ started: number | null; ended: number }>(
      `select started, ended from streams where id = $1 and status = 'ENDED'`,
      [streamId],
    );
    if (!stream) return null;
    const { started, ended } = stream;
    return {
      started,
      ended,
      scope: await scopeOf(tx, streamId, started, intervalAt(ended)),
      quizzes: await showQuizzesOf(tx, streamId),
      rounds: await roundsOf(tx, streamId),
    };
  }),

  /** Results of the quizzes with these numbers, in any order. */
  readQuizResults: readProcedure(
    async (tx, { numbers }: { numbers: readonly number[] }): Promise<QuizResult[]> => {
      const rows = await tx.query<StoredResult>(
        `select id, number, question, choices, answer, counts from quizzes
         where number in (select wanted from ${tx.rows('$1', ['wanted integer'])} numbers)`,
        [JSON.stringify(numbers.map((number) => [number]))],
      );
      return rows.map(({ choices, counts, ...quiz }) => ({
        ...quiz,
        choices: JSON.parse(choices),
        counts: JSON.parse(counts),
      }));
    },
  ),

  /** Adds a page of intervals from `next` on. @returns `next`: null after the last page */
  addIntervals: readProcedure(
    async (tx, input: { streamId: string; scope: Scope; next: number; figures: FeedFigures }) => {
      const { streamId, scope, next, figures } = input;
      const range = { streamId, from: next, to: scope.to };
      const page = await readSealedForward(tx, { ...range, ...INTERVAL_PAGE });
      if (page.next === null) return { figures, next: null };
      return { figures: withIntervals(figures, scope, page.intervals), next: page.next };
    },
  ),

  /** Adds a page of answers of seats after `afterSeat`. @returns `last`: null after the last page */
  addAnswers: readProcedure(
    async (
      tx,
      input: { quiz: number; window: AnswerWindow; afterSeat: number; figures: QuizFigures },
    ): Promise<{ figures: QuizFigures; last: number | null }> => {
      const { quiz, window, afterSeat, figures } = input;
      const rows = await tx.query<{ seat: number; received: number }>(
        `select seat, received from answers where quiz = $1 and seat > $2
         order by seat limit $3`,
        [quiz, afterSeat, PAGE_ANSWERS],
      );
      const received = rows.map((row) => Number(row.received));
      const last = rows.length < PAGE_ANSWERS ? null : (rows.at(-1)?.seat ?? null);
      return { figures: withAnswers(figures, window, received), last };
    },
  ),

  /** Counts a page of viewers with seats after `afterSeat`. @returns `last`: null after the last page */
  countViewers: readProcedure(
    async (tx, { streamId, afterSeat }: { streamId: string; afterSeat: number }) => {
      const [row] = await tx.query<{ count: number; last: number | null }>(
        `select count(*) as count, max(seat) as last from
           (select seat from seats where stream_id = $1 and seat > $2 order by seat limit $3) page`,
        [streamId, afterSeat, PAGE_SEATS],
      );
      const count = Number(row?.count);
      return { count, last: count < PAGE_SEATS ? null : Number(row?.last) };
    },
  ),
};

async function scopeOf(
  tx: Tx,
  streamId: string,
  started: number | null,
  end: number,
): Promise<Scope> {
  const [row] = await tx.query<{ first: number | null; watermark: number }>(
    `select (select min(interval) from sealed_intervals where stream_id = $1) as first,
       interval as watermark from watermark`,
    [streamId],
  );
  const first = started === null ? Number(row?.first ?? end) : intervalAt(started);
  return { from: Math.min(first, end), end, to: Math.max(end, Number(row?.watermark)) };
}

type StoredResult = Omit<QuizResult, 'choices' | 'counts'> & { choices: string; counts: string };

async function showQuizzesOf(tx: Tx, streamId: string): Promise<ShowQuiz[]> {
  const rows = await tx.query<
    Omit<ShowQuiz, 'toldInterval'> & { created: number; toldInterval: number | null }
  >(
    `select number, created, told_interval as "toldInterval", close_interval as "closeInterval"
     from quizzes where stream_id = $1 and counts is not null order by created, number`,
    [streamId],
  );
  return rows.map(({ created, toldInterval, ...quiz }) => ({
    ...quiz,
    // Null for quizzes of earlier versions; `created` is when the quiz was published.
    toldInterval: toldInterval ?? intervalAt(created),
  }));
}

async function roundsOf(tx: Tx, streamId: string): Promise<RoundReport[]> {
  const rows = await tx.query<RoundReport>(
    `select id, requested, quizzes, count from winners_rounds
     where stream_id = $1 and count is not null order by number`,
    [streamId],
  );
  return [...rows];
}
