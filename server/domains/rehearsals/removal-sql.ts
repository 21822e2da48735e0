import { TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';
import { REHEARSAL_KEPT_MS } from '../../../protocol/rehearsal.ts';
import { type Tx, writing } from '../../storage/sql/procedure.ts';
import { endLockedStream, lockOwnStream } from '../streams/streams-sql.ts';

/** At once, so that no commit waits for long. */
const ROWS_AT_ONCE = 5_000;
/** After its stream is gone, a token of it may be good for so long, and count its viewer. */
const TOKENS_MS = (TOKEN_LIFETIME_S + 60) * 1_000;

/**
 * What a stream leaves in the database, with the columns that tell its rows apart: what refers to others
 * comes before them.
 */
const OF_STREAM: readonly (readonly [table: string, key: string])[] = [
  ['quizzes', 'id'],
  ['winners_rounds', 'id'],
  ['seats', 'stream_id, viewer'],
  ['seat_counters', 'stream_id'],
  ['sealed_intervals', 'stream_id, interval'],
  ['chat_rooms', 'stream_id'],
  ['hidden_lines', 'stream_id, line'],
  ['restricted_viewers', 'stream_id, viewer, kind'],
  ['queued_questions', 'stream_id, id'],
  ['presenter_keys', 'stream_id'],
];

/** What hangs on rows of a stream by their numbers. */
const OF_NUMBERS = [
  ['answers', 'quiz', 'seat', 'quizzes'],
  ['winners', 'round', 'seat', 'winners_rounds'],
] as const;

export const removalProcedures = {
  /**
   * Removes what is kept of a rehearsal that nobody wants any more, or that is too old: a bounded number
   * of rows at once. What another node is at work on is left to it.
   * @returns whether there may be more to do at once
   */
  removeRehearsal: writing(async (tx, { nowMs }: { nowMs: number }): Promise<boolean> => {
    const [row] = await tx.query<{ id: string; account: string; removed: number | null }>(
      `select stream_id as id, account, removed from rehearsals
       where (removed is null and (is_current = 0 or created <= $1)) or removed <= $2
       order by created limit 1 ${tx.locks.claim}`,
      [nowMs - REHEARSAL_KEPT_MS, nowMs - TOKENS_MS],
    );
    if (!row) return false;
    const { id, account, removed } = row;
    if (removed === null && !(await settled(tx, id, account, nowMs))) return false;
    if (await removeSome(tx, id)) return true;
    if (removed === null) {
      await tx.query('delete from streams where id = $1', [id]);
      await tx.query('update rehearsals set is_current = 0, removed = $2 where stream_id = $1', [
        id,
        nowMs,
      ]);
    } else await tx.query('delete from rehearsals where stream_id = $1', [id]);
    return true;
  }),
};

/**
 * Ends what goes on in the stream, so that no sealing has to do with it.
 * @returns false while events of it wait for their interval: the next sealing takes them
 */
async function settled(tx: Tx, id: string, account: string, nowMs: number): Promise<boolean> {
  await endLockedStream(tx, await lockOwnStream(tx, id, account), null, nowMs);
  await tx.query(
    `update quizzes set state = 'draft', created = null, close_interval = null
     where stream_id = $1 and state = 'open'`,
    [id],
  );
  await tx.query(
    `update winners_rounds set state = 'closed', count = 0 where stream_id = $1 and state = 'open'`,
    [id],
  );
  const [waiting] = await tx.query('select number from outbox where stream_id = $1 limit 1', [id]);
  return !waiting;
}

/** @returns whether there may be more */
async function removeSome(tx: Tx, id: string): Promise<boolean> {
  const deletions = [
    ...OF_NUMBERS.map(
      ([table, number, other, parent]) =>
        `delete from ${table} where (${number}, ${other}) in (select one.${number}, one.${other}
           from ${table} one join ${parent} whole on whole.number = one.${number}
           where whole.stream_id = $1 limit ${ROWS_AT_ONCE})`,
    ),
    ...OF_STREAM.map(
      ([table, key]) =>
        `delete from ${table} where (${key}) in
           (select ${key} from ${table} where stream_id = $1 limit ${ROWS_AT_ONCE})`,
    ),
  ];
  for (const deletion of deletions) {
    const { affected } = await tx.query(deletion, [id]);
    if (affected === ROWS_AT_ONCE) return true;
  }
  return false;
}
