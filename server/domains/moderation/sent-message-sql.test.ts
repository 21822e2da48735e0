import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { composeInterval } from '../../realtime/feed/interval-body.ts';
import { openMigratedSqlite, type Sqlite } from '../../storage/sql/sqlite.ts';
import { sentLine } from './sent-message-sql.ts';

const SEALED = 1_000;
const MINUTE = 60_000 / INTERVAL_MS;
const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sent-line-'));
let sqlite: Sqlite;
beforeAll(async () => {
  sqlite = await openMigratedSqlite(directory);
  await sqlite.query(`insert into accounts values ('a', 'a@example.org', 'A', 0)`);
  await sqlite.query(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status,
       created) values ('s', 1, 'a', 'A show', 0, 0, 'STREAMING', 0)`,
  );
});
afterAll(async () => {
  await sqlite.close();
  rmSync(directory, { recursive: true, force: true });
});

test.each([
  ['in its interval', 0, true],
  ['between the end of an interval and its sealing', 1, true],
  ['while sealing was late by seconds', 20, true],
  ['a while before, as purchases do that are many', -100, true],
  ['at quite another time', MINUTE + 1, false],
])('[C-17] a line is found that came %s', async (name, intervalsLater, isFound) => {
  const id = name.replaceAll(/[^a-z]/g, '-').slice(0, 36);
  const at = (SEALED + intervalsLater) * INTERVAL_MS;
  const line = { id, viewer: 'v', name: '', text: 'Hello', at };
  const chats = { messages: [line], questions: [], greetings: [], cheers: [], hearts: 0 };
  const { body } = composeInterval(SEALED, { viewCount: null, chats }, []);
  await sqlite.query('delete from sealed_intervals');
  await sqlite.query(`insert into sealed_intervals values ('s', $1, $2)`, [SEALED, body]);
  const found = await sentLine(sqlite, 's', line).catch((error) => error.kind);
  expect(found).toEqual(isFound ? { ...line, kind: 'message' } : 'not-found');
});
