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

type Place = readonly [x: number, y: number, height: number];

const PLACES = {
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

// In SQLite's thread nobody else is served meanwhile; in PostgreSQL nobody who wants the same rows.
async function pause(tx: Tx, ms: number): Promise<void> {
  if (tx.locks.update === '') Bun.sleepSync(ms);
  else await tx.query('select pg_sleep($1)', [ms / 1_000]);
}

/** Procedures that make a record do what its rules are about: write, refuse, block, fail, die. */
export const testProcedures = {
  ...idempotencyProcedures,

  /** Makes the tables of the other procedures. */
  prepare: writeProcedure(async (tx): Promise<void> => {
    // Of several in PostgreSQL, all but one may find that a table exists after they looked.
    if (tx.locks.update !== '') await tx.query('select pg_advisory_xact_lock(1)');
    for (const statement of TABLES) await tx.query(statement);
  }),

  add: writeProcedure((tx, { text }: { text: string }) => insertNote(tx, text)),

  addThenRefuse: writeProcedure(async (tx, { text }: { text: string }): Promise<number> => {
    await insertNote(tx, text);
    throw new DomainError('conflict', 'No.');
  }),

  addThenBreak: writeProcedure(async (tx, { text }: { text: string }): Promise<number> => {
    await insertNote(tx, text);
    throw new Error('a defect');
  }),

  /** Adds a note for each row of an array that is given as one parameter. */
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

  /** Adds places where none is. They go from thread to thread as texts. */
  addPlaces: writeProcedure((tx, places: readonly Place[]) => tx.insertNew(PLACES, places), {
    codec: {
      encodeInput: JSON.stringify,
      decodeInput: (packed) => JSON.parse(packed as string),
      encodeOutput: JSON.stringify,
      decodeOutput: (packed) => JSON.parse(packed as string),
    },
  }),

  listPlaces: readProcedure(async (tx): Promise<number[][]> => {
    const rows = await tx.query<{ x: number; y: number; height: number }>(
      'select x, y, height from places order by x, y',
    );
    return rows.map(({ x, y, height }) => [x, y, height]);
  }),

  /** Succeeds, and leaves something behind that the commit cannot take. */
  spoilCommit: writeProcedure(async (tx, { text }: { text: string }): Promise<number> => {
    await tx.query('insert into orphans (parent) values (-1)');
    return insertNote(tx, text);
  }),

  /** Keeps writers waiting. It is patient, so it tells when they need not wait any more. */
  block: writeProcedure(
    async (tx, { ms }: { ms: number }): Promise<void> => {
      await tx.query('update last_note set number = number');
      await pause(tx, ms);
    },
    { noDeadline: true },
  ),

  /** Ends the writer's thread with an error that nobody catches. */
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

  /** Counts, waits where it reads, counts again. */
  countTwice: readProcedure(async (tx, { ms }: { ms: number }): Promise<[number, number]> => {
    const before = await countNotes(tx);
    await pause(tx, ms);
    return [before, await countNotes(tx)];
  }),

  /** Gives its values back as the database gives them. */
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

  /** Writes what a newer version of the program would have. */
  comeFromTheFuture: writeProcedure(async (tx): Promise<void> => {
    await tx.query("insert into migrations values (9999, 'from the future', 0)");
  }),
};
