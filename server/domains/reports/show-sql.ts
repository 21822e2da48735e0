import { INTERVAL_MS, intervalAt } from '../../../protocol/interval.ts';
import type { RoundReport } from '../../../protocol/report.ts';
import { sealingProcedures } from '../../realtime/feed/sealing-sql.ts';
import { reading, type Tx } from '../../storage/sql/procedure.ts';
import { type Asked, type QuizFigures, withAnswers } from './answer-figures.ts';
import { type FeedFigures, type Scope, withIntervals } from './feed-figures.ts';
import type { Show, ShowQuiz } from './progress.ts';

/*
 * What a report is counted from, a page at a time: none keeps other readers waiting for more than some
 * milliseconds. Pages are added up where they are read, which in SQLite is not the event loop's thread;
 * in PostgreSQL one takes 0.2 ms of it. The report of a show of 3 h with 100,000 answers and 216,000
 * lines is made in 2 s (8 s in PostgreSQL), with 30 MB more (bench/report.ts); with pages of twice the
 * size it is hardly sooner.
 */

/** Half a minute of the feed, or less of it when much was said. */
const PAGE_INTERVALS = 30_000 / INTERVAL_MS;
const PAGE_BYTES = 128 * 1024;
const PAGE_ANSWERS = 1_000;
const PAGE_SEATS = 50_000;

export const showProcedures = {
  /** A stream that has ended, when all that it led to is sealed; null: there is none. */
  readShow: reading(async (tx, { streamId }: { streamId: string }): Promise<Show | null> => {
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
      quizzes: await quizzesOf(tx, streamId),
      rounds: await roundsOf(tx, streamId),
    };
  }),

  /** Adds a page of intervals from `next` on. @returns `next` null when there are no more */
  addIntervals: reading(
    async (
      tx,
      input: { streamId: string; scope: Scope; next: number; figures: FeedFigures },
    ): Promise<{ figures: FeedFigures; next: number | null }> => {
      const { streamId, scope, next, figures } = input;
      const page = { streamId, from: next, to: scope.to };
      const limits = { limit: PAGE_INTERVALS, bytesMax: PAGE_BYTES };
      const bodies = await sealingProcedures.readSealed.run(tx, { ...page, ...limits });
      const last = bodies.at(-1);
      if (!last) return { figures, next: null };
      const intervals = bodies.map(({ body }) => JSON.parse(body));
      return { figures: withIntervals(figures, scope, intervals), next: Number(last.interval) + 1 };
    },
  ),

  /** Adds a page of answers of the seats after `afterSeat`. @returns `last` null when there are no more */
  addAnswers: reading(
    async (
      tx,
      input: { quiz: number; asked: Asked; afterSeat: number; figures: QuizFigures },
    ): Promise<{ figures: QuizFigures; last: number | null }> => {
      const { quiz, asked, afterSeat, figures } = input;
      const rows = await tx.query<{ seat: number; received: number }>(
        `select seat, received from answers where quiz = $1 and seat > $2
         order by seat limit $3`,
        [quiz, afterSeat, PAGE_ANSWERS],
      );
      const received = rows.map((row) => Number(row.received));
      const last = rows.length < PAGE_ANSWERS ? null : (rows.at(-1)?.seat ?? null);
      return { figures: withAnswers(figures, asked, received), last };
    },
  ),

  /** Counts a page of viewers with the seats after `afterSeat`. @returns `last` null when there are no more */
  countViewers: reading(
    async (
      tx,
      input: { streamId: string; afterSeat: number },
    ): Promise<{ count: number; last: number | null }> => {
      const [row] = await tx.query<{ count: number; last: number | null }>(
        `select count(*) as count, max(seat) as last from
           (select seat from seats where stream_id = $1 and seat > $2 order by seat limit $3) page`,
        [input.streamId, input.afterSeat, PAGE_SEATS],
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

async function quizzesOf(tx: Tx, streamId: string): Promise<ShowQuiz[]> {
  const rows = await tx.query<{
    id: string;
    number: number;
    question: string;
    choices: string;
    answer: number;
    counts: string;
    created: number;
    told: number | null;
    closeInterval: number;
  }>(
    `select id, number, question, choices, answer, counts, created, told_interval as told,
       close_interval as "closeInterval"
     from quizzes where stream_id = $1 and counts is not null order by created, number`,
    [streamId],
  );
  return rows.map(({ choices, counts, created, told, ...quiz }) => ({
    ...quiz,
    choices: JSON.parse(choices),
    counts: JSON.parse(counts),
    // Of a quiz of earlier versions it is not known; it was told as soon as it was published.
    toldInterval: told ?? intervalAt(created),
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
