import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../../server/storage/sql/migrate.ts';
import type { Tx } from '../../../server/storage/sql/procedure.ts';
import {
  inTransaction,
  openMigratedSqlite,
  openSqlite,
  type Sqlite,
} from '../../../server/storage/sql/sqlite.ts';

/** Opens a SQLite database with an account `a`, and removes it after the tests of the calling file. */
export async function sqliteOfFile(): Promise<Sqlite> {
  return withAccount(openMigratedSqlite);
}

/** The same with the tables of an earlier version, before the migration with this number. */
export async function sqliteBefore(migration: number): Promise<Sqlite> {
  return withAccount(async (directory) => {
    const sqlite = await openSqlite(directory);
    await inTransaction(sqlite, async () => {
      await sqlite.query(
        'create table migrations (number integer primary key, name text not null, applied bigint not null)',
      );
      for (const { number, name, statements } of migrations('sqlite')) {
        if (number >= migration) break;
        for (const statement of statements) await sqlite.query(statement);
        await sqlite.query('insert into migrations values ($1, $2, 0)', [number, name]);
      }
    });
    return sqlite;
  });
}

async function withAccount(open: (directory: string) => Promise<Sqlite>): Promise<Sqlite> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sqlite-'));
  const sqlite = await open(directory);
  afterAll(async () => {
    await sqlite.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await sqlite.query(`insert into accounts values ('a', 'a@example.org', 'A', 0)`);
  return sqlite;
}

/** Inserts a stream of the account `a`. @param number unique among streams */
export async function insertStream(
  sqlite: Pick<Tx, 'query'>,
  id: string,
  number = 1,
): Promise<void> {
  await sqlite.query(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status,
       created) values ($1, $2, 'a', 'A show', 0, 0, 'STREAMING', 0)`,
    [id, number],
  );
}
