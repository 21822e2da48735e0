import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tx } from '../../../server/storage/sql/procedure.ts';
import { openMigratedSqlite, type Sqlite } from '../../../server/storage/sql/sqlite.ts';

/** Opens a SQLite database with an account `a`, and removes it after the tests of the calling file. */
export async function sqliteOfFile(): Promise<Sqlite> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sqlite-'));
  const sqlite = await openMigratedSqlite(directory);
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
