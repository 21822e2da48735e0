import { REHEARSAL_RETENTION_MS, TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';
import { type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { endLockedStream, lockOwnStream } from '../streams/streams-sql.ts';

/** Rows removed in one transaction, so that it does not delay other commits. */
const BATCH_ROWS = 5_000;
/** Of tables with long rows: 2,000 quizzes can have 10 MB, which took 200 ms. */
const BATCH_QUIZZES = 200;
const BATCH_INTERVALS = 1_000;
/** Contact details can have 1.1 KB. */
const BATCH_CONTACTS = 3_000;
/**
 * Bytes of long texts removed in one transaction: 1,000 intervals with 2,000 long quizzes had 90 MB, which
 * took 0.4 s, and as much of the write-ahead log of SQLite.
 */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Quizzes or rounds whose rows one transaction removes. */
const BATCH_PARENTS = 20;
/** How long tokens of a removed stream may still be valid and write seats. */
const TOKENS_VALID_MS = (TOKEN_LIFETIME_S + 60) * 1_000;

/**
 * Tables with rows of a stream, their key columns, and the text that counts for `BATCH_BYTES`, ordered so
 * that rows are removed before the rows they refer to.
 */
const STREAM_TABLES: readonly (readonly [
  table: string,
  key: string,
  rows?: number,
  text?: string,
])[] = [
  ['quizzes', 'id', BATCH_QUIZZES],
  ['winners_rounds', 'id'],
  ['seats', 'stream_id, viewer'],
  ['seat_counters', 'stream_id'],
  ['sealed_intervals', 'stream_id, interval', BATCH_INTERVALS, 'body'],
  ['chat_rooms', 'stream_id'],
  ['hidden_lines', 'stream_id, line'],
  ['restricted_viewers', 'stream_id, viewer, kind'],
  ['queued_questions', 'stream_id, id', BATCH_ROWS, 'line'],
  ['presenter_keys', 'stream_id'],
  ['products', 'stream_id, id'],
];

/** Tables whose rows belong to a stream through the number of a parent row. */
const CHILD_TABLES = [
  ['answers', 'quiz', 'seat', 'quizzes', BATCH_ROWS],
  ['winners', 'round', 'seat', 'winners_rounds', BATCH_ROWS],
  ['winner_contacts', 'round', 'seat', 'winners_rounds', BATCH_CONTACTS],
] as const;

export const removalProcedures = {
  /**
   * Removes a batch of rows of a dismissed or expired rehearsal. Skips rehearsals that another node
   * has locked. Those with waiting events come last: an account that sends events all the time delays
   * only its own.
   * @returns whether more can be removed now
   */
  removeRehearsal: writeProcedure(async (tx, { nowMs }: { nowMs: number }): Promise<boolean> => {
    const [row] = await tx.query<{ id: string; account: string; removed: number | null }>(
      `select stream_id as id, account, removed from rehearsals
       where (removed is null and (is_current = 0 or created <= $1)) or removed <= $2
       order by exists (select 1 from outbox o where o.stream_id = rehearsals.stream_id), created
       limit 1 ${tx.locks.claim}`,
      [nowMs - REHEARSAL_RETENTION_MS, nowMs - TOKENS_VALID_MS],
    );
    if (!row) return false;
    const { id, account, removed } = row;
    if (removed === null) {
      const remaining = await endActivity(tx, id, account, nowMs);
      if (remaining !== null) return remaining === 'quizzes';
    }
    if (await removeBatch(tx, id)) return true;
    if (removed === null) {
      await tx.query('delete from streams where id = $1', [id]);
      const removal = 'update rehearsals set is_current = 0, removed = $2 where stream_id = $1';
      await tx.query(removal, [id, nowMs]);
    } else await tx.query('delete from rehearsals where stream_id = $1', [id]);
    return true;
  }),
};

/**
 * Ends the stream's activity, so that sealing no longer involves it.
 * @returns what remains: open quizzes; or events in the outbox, which the next sealing takes
 */
async function endActivity(
  tx: Tx,
  id: string,
  account: string,
  nowMs: number,
): Promise<'quizzes' | 'events' | null> {
  await endLockedStream(tx, await lockOwnStream(tx, id, account), null, nowMs);
  const reset = await tx.query(
    `update quizzes set state = 'draft', created = null, close_interval = null
     where state = 'open'
     and id in (select id from quizzes where stream_id = $1 and state = 'open' limit $2)`,
    [id, BATCH_QUIZZES],
  );
  if (reset.affected === BATCH_QUIZZES) return 'quizzes';
  await tx.query(
    `update winners_rounds set state = 'closed', count = 0 where stream_id = $1 and state = 'open'`,
    [id],
  );
  const [waiting] = await tx.query('select number from outbox where stream_id = $1 limit 1', [id]);
  return waiting ? 'events' : null;
}

/** Deletes a batch of rows of a stream, child rows first. @returns whether there may be more */
async function removeBatch(tx: Tx, id: string): Promise<boolean> {
  for (const table of CHILD_TABLES) {
    if (await removeChildRows(tx, id, table)) return true;
  }
  for (const [table, key, rows = BATCH_ROWS, text] of STREAM_TABLES) {
    const page = `select ${key}, ${text ? `octet_length(${text})` : 0} as bytes
      from ${table} where stream_id = $1 limit $2`;
    // The first row is always in the batch, however long it is.
    const { affected } = await tx.query(
      `delete from ${table} where (${key}) in
       (select ${key} from
         (select ${key}, bytes, sum(bytes) over (order by ${key}) as total from (${page}) page) sized
        where total <= $3 or total = bytes)`,
      [id, rows, BATCH_BYTES],
    );
    if (affected === rows || (text && affected > 0)) return true;
  }
  return false;
}

/**
 * Deletes child rows of a few parents of a stream. With one joined statement PostgreSQL read all answers of the
 * service to find none of a rehearsal with 50 quizzes: 0.14 s for 500,000.
 * @returns whether there may be more
 */
async function removeChildRows(
  tx: Tx,
  id: string,
  [table, parentKey, key, parent, rows]: (typeof CHILD_TABLES)[number],
): Promise<boolean> {
  const parents = await tx.query<{ number: number }>(
    `select number from ${parent} whole where stream_id = $1
     and (select one.${key} from ${table} one where one.${parentKey} = whole.number limit 1) is not null limit $2`,
    [id, BATCH_PARENTS],
  );
  let left: number = rows;
  for (const { number } of parents) {
    const { affected } = await tx.query(
      `delete from ${table} where ${parentKey} = $1 and ${key} in
       (select ${key} from ${table} where ${parentKey} = $1 limit $2)`,
      [number, left],
    );
    left -= affected;
    if (left === 0) break;
  }
  return parents.length > 0;
}
