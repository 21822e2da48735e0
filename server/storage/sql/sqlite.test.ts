import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inTransaction, openSqlite } from './sqlite.ts';

test('[R-2] the files of SQLite contain nothing of a deleted row, after the log was written back', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sqlite-'));
  try {
    const sqlite = await openSqlite(directory);
    await sqlite.query('create table contacts (number integer primary key, text text not null)');
    const insert = async (number: number) =>
      sqlite.query('insert into contacts values ($1, $2)', [
        number,
        `contact ${number};`.repeat(5),
      ]);
    await inTransaction(sqlite, async () => {
      for (let number = 0; number < 500; number++) await insert(number);
    });
    // One row of a page, and all rows of many pages.
    await sqlite.query('delete from contacts where number = 7 or number >= 100');
    await sqlite.close();
    const files = readdirSync(directory).map((name) =>
      readFileSync(join(directory, name), 'latin1'),
    );
    const found = new Set(files.flatMap((text) => text.match(/contact \d+;/g) ?? []));
    expect(found).toContain('contact 8;');
    expect([...found].filter((text) => text === 'contact 7;' || text.length > 11)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('[R-2] a long log has nothing of a deleted row, after it was written back', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sqlite-'));
  const sqlite = await openSqlite(directory);
  try {
    await sqlite.query('create table contacts (number integer primary key, text text not null)');
    await sqlite.query('create table quizzes (text text not null)');
    await inTransaction(sqlite, async () => {
      // 8 MB, twice the length at which the log is written back.
      for (let quiz = 0; quiz < 2_000; quiz++) {
        await sqlite.query('insert into quizzes values ($1)', ['a quiz '.repeat(570)]);
      }
      await sqlite.query("insert into contacts values (1, 'a contact')");
    });
    await sqlite.query('delete from contacts');
    const log = readFileSync(join(directory, 'record.sqlite-wal'), 'latin1');
    expect(log).toContain('a quiz');
    expect(log).not.toContain('a contact');
  } finally {
    await sqlite.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
