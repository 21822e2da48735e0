import type { ChatElement } from '../../../protocol/feed.ts';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { composeInterval } from '../../../server/realtime/feed/interval-body.ts';
import { type SqlValue, type Tx, writeProcedure } from '../../../server/storage/sql/procedure.ts';

/** The size of a show that `writeShow` generates. */
export interface LongShow {
  readonly streamId: string;
  /** When the show ended, Unix ms. */
  readonly endedMs: number;
  readonly intervals: number;
  readonly messagesPerInterval: number;
  readonly viewers: number;
  readonly quizzes: number;
}

/** Rows of one insert statement. */
const BATCH_SIZE = 500;

/** Writes an ended show into a database: stream, seats, sealed intervals, quizzes and answers. */
export const longShowProcedures = {
  writeShow: writeProcedure(
    async (tx, show: LongShow & { producer: string }): Promise<void> => {
      const to = intervalAt(show.endedMs);
      const from = to - show.intervals + 1;
      await tx.query(
        `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status,
           created, started, ended)
         values ($1, $2, $3, 'A long show', 0, 0, 'ENDED', $4, $4, $5)`,
        [
          show.streamId,
          Math.floor(Math.random() * 1e9),
          show.producer,
          intervalStartMs(from),
          show.endedMs,
        ],
      );
      await insertRows(
        tx,
        'seats',
        ['stream_id text', 'viewer text', 'seat integer'],
        show.viewers,
        (n) => [show.streamId, `viewer-${n}`, n],
      );
      await insertRows(
        tx,
        'sealed_intervals',
        ['stream_id text', 'interval bigint', 'body text'],
        show.intervals,
        (n) => [show.streamId, from + n, bodyOf(show, from + n)],
      );
      for (let n = 0; n < show.quizzes; n++) await writeQuiz(tx, show, n, from);
      await tx.query('update watermark set interval = $1 where interval < $1', [to]);
    },
    { noDeadline: true },
  ),
};

/** Writes quiz `n`, at an even distance from the others. Viewers answer after 0.3 to 19.3 s. */
async function writeQuiz(tx: Tx, show: LongShow, n: number, from: number): Promise<void> {
  const publishedInterval = from + Math.floor(((n + 0.5) * show.intervals) / show.quizzes);
  const number = Math.floor(Math.random() * 1e9);
  const half = Math.ceil(show.viewers / 2);
  await tx.query(
    `insert into quizzes (id, number, position, stream_id, state, question, choices, answer,
       duration_ms, reveal, created, close_interval, game, counts, told_interval)
     values ($1, $2, $2, $3, 'revealed', 'Which?', '["a","b"]', 0, 20000, 'auto', $4, $5, 0, $6, $7)`,
    [
      crypto.randomUUID(),
      number,
      show.streamId,
      intervalStartMs(publishedInterval),
      publishedInterval + 20_000 / INTERVAL_MS,
      JSON.stringify([half, show.viewers - half]),
      publishedInterval,
    ],
  );
  const columns = ['quiz integer', 'seat integer', 'choice integer', 'received bigint'];
  await insertRows(tx, 'answers', columns, show.viewers, (seat) => [
    number,
    seat,
    seat % 2,
    intervalStartMs(publishedInterval) + 300 + ((seat * 7_919) % 19_000),
  ]);
}

/** Inserts rows in batches. @param columns each a name and an SQL type */
async function insertRows(
  tx: Tx,
  table: string,
  columns: readonly string[],
  count: number,
  rowOf: (n: number) => SqlValue[],
): Promise<void> {
  const names = columns.map((column) => column.split(' ')[0]).join(', ');
  for (let start = 0; start < count; start += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, count - start);
    const rows = Array.from({ length }, (_, n) => rowOf(start + n));
    await tx.query(
      `insert into ${table} (${names}) select ${names} from ${tx.rows('$1', columns)} written`,
      [JSON.stringify(rows)],
    );
  }
}

function bodyOf({ messagesPerInterval, viewers }: LongShow, interval: number): string {
  const messages: ChatElement[] = Array.from({ length: messagesPerInterval }, (_, n) => ({
    id: `${interval}-${n}`,
    viewer: `viewer-number-${String((interval + n) % 10_000).padStart(8, '0')}`,
    name: 'Somebody',
    text: 'What somebody says in a chat, more or less',
    at: intervalStartMs(interval) + n,
  }));
  const otherChats = { questions: [], greetings: [], cheers: [], hearts: 3 };
  // A count is published once a second: in every fourth interval.
  const viewCount =
    interval % 4 === 3 ? { value: viewers - (interval % 97), formatted: `${viewers}` } : null;
  return (
    composeInterval(interval, { viewCount, chats: { messages, ...otherChats } }, []).body ?? ''
  );
}
