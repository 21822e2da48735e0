// Runs only the statement that records answers, in transactions of a given number of rows with scattered
// seats: sequentially in SQLite, concurrently in PostgreSQL.

import { openSession } from '../../server/storage/sql/postgres.ts';
import type { NumberTable, Tx } from '../../server/storage/sql/procedure.ts';
import { inTransaction, openSqlite } from '../../server/storage/sql/sqlite.ts';

/** The database: a PostgreSQL url or a folder for SQLite. */
const [database = '', seconds = '', rowsPerTransaction = ''] = process.argv.slice(2);
const SEATS = 20_000;
/** The number of connections that the service uses for answers. */
const SESSIONS = 4;
const CONNECT_MS = 5_000;
const TABLE: NumberTable = {
  name: 'rows',
  columns: ['quiz integer', 'seat integer', 'choice smallint', 'received bigint'],
  keyColumns: 2,
};
const CREATE = `(${TABLE.columns.join(' not null,')} not null, primary key (quiz, seat))`;
/** Coprime to the number of seats, so that multiples visit all of them in scattered order. */
const STRIDE = 7_919;

let sentRows = 0;
let insertedRows = 0;

function batch(): number[][] {
  return Array.from({ length: Number(rowsPerTransaction) }, () => {
    const n = sentRows++;
    return [Math.floor(n / SEATS), (n * STRIDE) % SEATS, n % 4, Date.now()];
  });
}

async function insertBatch(tx: Pick<Tx, 'insertNew'>): Promise<void> {
  const areNew = await tx.insertNew(TABLE, batch());
  insertedRows += areNew.filter(Boolean).length;
}

async function inSqlite(endMs: number): Promise<void> {
  const sqlite = await openSqlite(database);
  await sqlite.query(`create table rows ${CREATE} without rowid`);
  while (performance.now() < endMs) await inTransaction(sqlite, () => insertBatch(sqlite));
}

async function inPostgres(endMs: number): Promise<void> {
  const open = () => openSession({ url: database, connectTimeoutMs: CONNECT_MS });
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, open));
  await sessions[0]?.run(`drop table if exists rows; create table rows ${CREATE}`);
  const working = sessions.map(async (session) => {
    while (performance.now() < endMs) {
      await session.run('begin');
      await insertBatch(session);
      await session.run('commit');
    }
  });
  await Promise.all(working);
}

const startMs = performance.now();
const endMs = startMs + Number(seconds) * 1_000;
await (database.startsWith('postgres:') ? inPostgres(endMs) : inSqlite(endMs));
const tookS = (performance.now() - startMs) / 1_000;
console.log(`outcome ${JSON.stringify({ insertedRows, sentRows, seconds: tookS })}`);
process.exit();
