import { DomainError } from '../../../server/platform/errors.ts';
import { idempotencyProcedures } from '../../../server/storage/sql/idempotency.ts';
import { readProcedure, type Tx, writeProcedure } from '../../../server/storage/sql/procedure.ts';

const TABLES = [
  'create table if not exists notes (number integer primary key, text text not null)',
  'create table if not exists last_note (number integer not null)',
  `create table if not exists orphans
     (parent integer references notes (number) deferrable initially deferred)`,
  `create table if not exists places
     (x integer not null, y integer not null, height integer not null, primary key (x, y))`,
  'insert into last_note (number) select 0 where not exists (select 1 from last_note)',
];

type Point = readonly [x: number, y: number, height: number];

const POINTS = {
  name: 'places',
  columns: ['x integer', 'y integer', 'height integer'],
  keyColumns: 2,
};

async function insertNote(tx: Tx, text: string): Promise<number> {
  const [row] = await tx.query<{ number: number }>(
    'update last_note set number = number + 1 returning number',
  );
  const number = row?.number ?? 0;
  await tx.query('insert into notes (number, text) values ($1, $2)', [number, text]);
  return number;
}

async function countNotes(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ n: number }>('select count(*) as n from notes');
  return row?.n ?? 0;
}

// Blocks the whole thread of SQLite; in PostgreSQL it blocks transactions that need the same rows.
async function pause(tx: Tx, ms: number): Promise<void> {
  if (tx.locks.update === '') Bun.sleepSync(ms);
  else await tx.query('select pg_sleep($1)', [ms / 1_000]);
}

/** Procedures that cause the behavior under test: write, reject, block, fail, crash. */
export const testProcedures = {
  ...idempotencyProcedures,

  /** Creates the tables of the other procedures. */
  prepare: writeProcedure(async (tx): Promise<void> => {
    // `if not exists` of PostgreSQL is not safe for concurrent transactions.
    if (tx.locks.update !== '') await tx.query('select pg_advisory_xact_lock(1)');
    for (const statement of TABLES) await tx.query(statement);
  }),

  /** Adds a note, and returns its text. */
  addAndReturn: writeProcedure(async (tx, { text }: { text: string }): Promise<string> => {
    await insertNote(tx, text);
    return text;
  }),

  add: writeProcedure((tx, { text }: { text: string }) => insertNote(tx, text)),

  addThenReject: writeProcedure(async (tx, { text }: { text: string }): Promise<number> => {
    await insertNote(tx, text);
    throw new DomainError('conflict', 'No.');
  }),

  addThenFail: writeProcedure(async (tx, { text }: { text: string }): Promise<number> => {
    await insertNote(tx, text);
    throw new Error('a defect');
  }),

  /** Inserts a note for each row of a JSON parameter. */
  addRows: writeProcedure(
    async (tx, { notes }: { notes: readonly (readonly [number, string | null])[] }) => {
      const { affected } = await tx.query(
        `insert into notes (number, text)
         select number, coalesce(text, $2) from ${tx.rows('$1', ['number integer', 'text text'])} given
         where true on conflict (number) do nothing`,
        [JSON.stringify(notes), 'none'],
      );
      return affected;
    },
  ),

  /** Inserts points with a new key; a codec passes them between threads as text. */
  insertPoints: writeProcedure((tx, points: readonly Point[]) => tx.insertNew(POINTS, points), {
    codec: {
      encodeInput: JSON.stringify,
      decodeInput: (packed) => JSON.parse(packed as string),
      encodeOutput: JSON.stringify,
      decodeOutput: (packed) => JSON.parse(packed as string),
    },
  }),

  listPoints: readProcedure(async (tx): Promise<number[][]> => {
    const rows = await tx.query<{ x: number; y: number; height: number }>(
      'select x, y, height from places order by x, y',
    );
    return rows.map(({ x, y, height }) => [x, y, height]);
  }),

  /** Succeeds, but violates a deferred constraint, so that the commit fails. */
  failCommit: writeProcedure(async (tx, { text }: { text: string }): Promise<number> => {
    await tx.query('insert into orphans (parent) values (-1)');
    return insertNote(tx, text);
  }),

  /** Blocks other writers. It has no deadline, so its result shows when the block has ended. */
  block: writeProcedure(
    async (tx, { ms }: { ms: number }): Promise<void> => {
      await tx.query('update last_note set number = number');
      await pause(tx, ms);
    },
    { noDeadline: true },
  ),

  /** Crashes the writer thread with an uncaught error. */
  die: writeProcedure(async (): Promise<void> => {
    setTimeout(() => {
      throw new Error('the thread died');
    });
    await new Promise(() => {});
  }),

  list: readProcedure(async (tx): Promise<string[]> => {
    const rows = await tx.query<{ text: string }>('select text from notes order by number');
    return rows.map(({ text }) => text);
  }),

  /** Counts, pauses inside the transaction, and counts again. */
  countTwice: readProcedure(async (tx, { ms }: { ms: number }): Promise<[number, number]> => {
    const before = await countNotes(tx);
    await pause(tx, ms);
    return [before, await countNotes(tx)];
  }),

  /** Returns its values as the database returns them. */
  echo: readProcedure(async (tx, { whole, text }: { whole: number; text: string | null }) => {
    const [row] = await tx.query(
      `select cast($1 as bigint) as whole, cast($2 as text) as text, count(*) as counted
       from counters where name = $2`,
      [whole, text],
    );
    return { ...row };
  }),

  readDurability: readProcedure(async (tx): Promise<unknown[]> => {
    const [mode] = await tx.query('pragma journal_mode');
    const [synchronous] = await tx.query('pragma synchronous');
    const [foreignKeys] = await tx.query('pragma foreign_keys');
    return [mode?.journal_mode, synchronous?.synchronous, foreignKeys?.foreign_keys];
  }),

  listMigrations: readProcedure(
    async (tx): Promise<unknown[]> => [
      ...(await tx.query('select number, name from migrations order by number')),
    ],
  ),

  /** Adds a migration of a newer version of the program. */
  addFutureMigration: writeProcedure(async (tx): Promise<void> => {
    await tx.query("insert into migrations values (9999, 'from the future', 0)");
  }),
};
