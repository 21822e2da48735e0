import { Refusal } from '../server/refusal.ts';
import { idempotencyProcedures } from '../server/sql/idempotency.ts';
import { reading, type Tx, writing } from '../server/sql/procedure.ts';

async function insertNote(tx: Tx, text: string): Promise<number> {
  await tx.query('create table if not exists notes (number integer primary key, text text)');
  const [row] = await tx.query<{ number: number }>(
    'insert into notes (text) values ($1) returning number',
    [text],
  );
  return row?.number ?? 0;
}

async function countNotes(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ n: number }>('select count(*) as n from notes');
  return row?.n ?? 0;
}

/** Procedures that make a record do what its rules are about: write, refuse, block, fail, die. */
export const testProcedures = {
  ...idempotencyProcedures,

  add: writing((tx, { text }: { text: string }) => insertNote(tx, text)),

  addThenRefuse: writing(async (tx, { text }: { text: string }): Promise<number> => {
    await insertNote(tx, text);
    throw new Refusal('conflict', 'No.');
  }),

  addThenBreak: writing(async (tx, { text }: { text: string }): Promise<number> => {
    await insertNote(tx, text);
    throw new Error('a defect');
  }),

  /** Succeeds, and leaves something behind that the commit cannot take. */
  spoilCommit: writing(async (tx, { text }: { text: string }): Promise<number> => {
    await tx.query(`create table if not exists orphans
      (parent integer references notes (number) deferrable initially deferred)`);
    await tx.query('insert into orphans (parent) values (-1)');
    return insertNote(tx, text);
  }),

  /** Keeps the writer busy. It is patient, so it tells when the writer is free again. */
  block: writing(
    async (_tx, { ms }: { ms: number }): Promise<void> => {
      Bun.sleepSync(ms);
    },
    { patient: true },
  ),

  /** Ends the writer's thread with an error that nobody catches. */
  die: writing(async (): Promise<void> => {
    setTimeout(() => {
      throw new Error('the thread died');
    });
    await new Promise(() => {});
  }),

  list: reading(async (tx): Promise<string[]> => {
    const rows = await tx.query<{ text: string }>('select text from notes order by number');
    return rows.map(({ text }) => text);
  }),

  /** Counts, waits in the reader, counts again. */
  countTwice: reading(async (tx, { ms }: { ms: number }): Promise<[number, number]> => {
    const before = await countNotes(tx);
    Bun.sleepSync(ms);
    return [before, await countNotes(tx)];
  }),

  readDurability: reading(async (tx): Promise<unknown[]> => {
    const [mode] = await tx.query('pragma journal_mode');
    const [synchronous] = await tx.query('pragma synchronous');
    const [foreignKeys] = await tx.query('pragma foreign_keys');
    return [mode?.journal_mode, synchronous?.synchronous, foreignKeys?.foreign_keys];
  }),

  listMigrations: reading(
    async (tx): Promise<unknown[]> => [
      ...(await tx.query('select * from migrations order by number')),
    ],
  ),
};
