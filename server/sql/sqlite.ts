import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { migrate } from './migrate.ts';
import type { Rows, SqlValue, Tx } from './procedure.ts';

/** A connection to the record in SQLite; also its only transaction at a time. */
export interface Sqlite extends Tx {
  close(): Promise<void>;
}

const numbered = new Map<string, string>();

// `$1` is a name to SQLite, bound in order of first use; `?1` is the first parameter, as in PostgreSQL.
function sqliteText(text: string): string {
  let translated = numbered.get(text);
  if (translated === undefined) {
    translated = text.replace(/\$(\d+)/g, '?$1');
    numbered.set(text, translated);
  }
  return translated;
}

function rows(parameter: string, columns: readonly string[]): string {
  const list = columns.map((column, index) => `value ->> ${index} as ${column.split(' ')[0]}`);
  return `(select ${list.join(', ')} from json_each(${parameter}))`;
}

/** Opens one connection to the database file in `directory`, with the record's durability. */
export async function openSqlite(directory: string): Promise<Sqlite> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const sql = new SQL({ adapter: 'sqlite', filename: join(directory, 'record.sqlite') });
  // busy_timeout: the command line writes to the same file while a server runs.
  for (const pragma of [
    'busy_timeout = 5000',
    'journal_mode = wal',
    'synchronous = full',
    'foreign_keys = on',
  ]) {
    await sql.unsafe(`pragma ${pragma}`);
  }
  return {
    rows,
    async query<Row>(text: string, params: SqlValue[] = []): Promise<Rows<Row>> {
      const result = await sql.unsafe(sqliteText(text), params);
      return Object.assign(result, { affected: Number(result.affectedRows ?? 0) });
    },
    close: () => sql.close(),
  };
}

/** Opens the record for writing and brings its schema up to date. */
export async function openMigratedSqlite(directory: string): Promise<Sqlite> {
  const sqlite = await openSqlite(directory);
  await migrate(sqlite, Date.now());
  return sqlite;
}

/** Runs `work` in one transaction; what it throws undoes everything it did. */
export async function inTransaction<T>(sqlite: Sqlite, work: () => Promise<T>): Promise<T> {
  await sqlite.query('begin immediate');
  try {
    const result = await work();
    await sqlite.query('commit');
    return result;
  } catch (error) {
    await sqlite.query('rollback').catch(() => {});
    throw error;
  }
}
