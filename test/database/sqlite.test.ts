import { Database } from 'bun:sqlite';
import { afterAll, afterEach, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDatabase } from '../../server/storage/sql/database-sqlite.ts';
import { databaseContract, resultOf, type TestDatabase } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';

const root = mkdtempSync(join(tmpdir(), 'fourbeat-sqlite-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const opened: TestDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
});

const newDirectory = () => join(mkdtempSync(join(root, 'root-')), 'data');

function openAt(directory: string, onFailed: (reason: string) => void): Promise<TestDatabase> {
  return openSqliteDatabase({
    procedures: testProcedures,
    worker: new URL('../support/database/worker.ts', import.meta.url),
    directory,
    onFailed,
  });
}

async function open(
  directory = newDirectory(),
  onFailed: (reason: string) => void = () => {},
): Promise<TestDatabase> {
  const database = await openAt(directory, onFailed);
  opened.push(database);
  await database.store.prepare({});
  return database;
}

databaseContract({
  dialect: 'sqlite',
  newLocation: async () => newDirectory(),
  open: (directory) => openAt(directory, () => {}),
});

/** Number of transactions in the write-ahead log: only the last frame of each has a database size. */
function commitsInLog(directory: string): number {
  const log = readFileSync(join(directory, 'record.sqlite-wal'));
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (log.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}

test('[R-1] every other reader of the file sees acknowledged writes', async () => {
  const directory = newDirectory();
  const { store } = await open(directory);
  await store.add({ text: 'first' });
  const other = new Database(join(directory, 'record.sqlite'), { readonly: true });
  for (let note = 0; note < 50; note++) {
    const number = await store.add({ text: `note ${note}` });
    expect(other.query('select text from notes where number = ?').get(number)).toEqual({
      text: `note ${note}`,
    });
  }
  other.close();
});

test('[R-1] all calls of a shared commit fail when it fails', async () => {
  const { store } = await open();
  await store.add({ text: 'before' });
  const shared = await Promise.all([
    resultOf(store.add({ text: 'shared' })),
    resultOf(store.failCommit({ text: 'spoilt' })),
  ]);
  for (const outcome of shared) expect(outcome).toStartWith('Unavailable: The database failed');
  await store.add({ text: 'after' });
  expect(await store.list({})).toEqual(['before', 'after']);
});

test('[R-18] a write is rejected once the file was removed, and accepted when it is back', async () => {
  const directory = newDirectory();
  const { store } = await open(directory);
  await store.add({ text: 'before' });
  const file = join(directory, 'record.sqlite');
  renameSync(file, `${file}.away`);
  expect(await resultOf(store.add({ text: 'lost' }))).toStartWith(
    'Unavailable: The database failed: record.sqlite was removed or replaced',
  );
  renameSync(`${file}.away`, file);
  await store.add({ text: 'after' });
  expect(await store.list({})).toEqual(['before', 'after']);
});

test('[R-18] a backup that replaces the file of a running service is intact', async () => {
  const directory = newDirectory();
  const database = await open(directory);
  await database.store.add({ text: 'before' });
  const file = join(directory, 'record.sqlite');
  const backup = new Database(file);
  backup.run(`vacuum into '${file}.backup'`);
  backup.close();
  for (let note = 0; note < 100; note++) await database.store.add({ text: 'x'.repeat(2_000) });
  renameSync(`${file}.backup`, file);
  expect(await resultOf(database.store.add({ text: 'lost' }))).toContain('removed or replaced');
  await database.close();
  opened.splice(opened.indexOf(database), 1);
  const { store } = await open(directory);
  expect(await store.list({})).toEqual(['before']);
});

test('[R-2] a connection uses a write-ahead log and full synchronization', async () => {
  const { store } = await open();
  expect(await store.readDurability({})).toEqual(['wal', 2, 1]);
});

test('[R-2] [O-20] the directory is accessible only to its owner', async () => {
  const directory = newDirectory();
  await open(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test('[R-3] concurrent calls share one commit', async () => {
  const directory = newDirectory();
  const { store } = await open(directory);
  await store.add({ text: 'first' });
  const before = commitsInLog(directory);
  const blocked = store.block({ ms: 100 });
  await Bun.sleep(20);
  await Promise.all(Array.from({ length: 200 }, (_, note) => store.add({ text: `note ${note}` })));
  await blocked;
  expect((await store.list({})).length).toBe(201);
  expect(commitsInLog(directory) - before).toBe(1);
});

test('[R-7] a directory that cannot be opened is reported', async () => {
  const directory = join(root, 'a-file');
  writeFileSync(directory, '');
  expect(await resultOf(open(directory))).toMatch(/^Error: .*a-file/);
});

test('[R-15] calls that were rejected while another process wrote do not run later', async () => {
  const directory = newDirectory();
  const { store } = await open(directory);
  await store.add({ text: 'first' });
  const other = new Database(join(directory, 'record.sqlite'));
  other.run('begin immediate');
  expect(await resultOf(store.add({ text: 'refused' }))).toStartWith('Unavailable');
  other.run('commit');
  other.close();
  await store.add({ text: 'second' });
  expect(await store.list({})).toEqual(['first', 'second']);
});

test('[R-15] calls past their deadline count for the queue limit until they leave it', async () => {
  const database = await open();
  const blocked = database.store.block({ ms: 1_500 });
  const calls = Array.from({ length: 50_000 }, () =>
    resultOf(database.store.add({ text: 'dead' })),
  );
  await Promise.all(calls);
  expect(await resultOf(database.store.add({ text: 'over' }))).toBe(
    'Unavailable: The database is busy.',
  );
  // A call without a deadline, such as a sealing, is queued separately.
  await database.store.block({ ms: 0 });
  await blocked;
  expect(await database.store.add({ text: 'room' })).toBe(1);
  expect(database.pending()).toBe(0);
});

test('[R-15] calls are Unavailable after the writer thread failed, and onFailed is called', async () => {
  const reasons: string[] = [];
  const { store } = await open(newDirectory(), (reason) => reasons.push(reason));
  await store.add({ text: 'first' });
  expect(await resultOf(store.die({}))).toStartWith('Unavailable: The database is unavailable');
  expect(await resultOf(store.add({ text: 'later' }))).toStartWith(
    'Unavailable: The database is unavailable',
  );
  expect(await store.list({})).toEqual(['first']);
  expect(reasons).toHaveLength(1);
});
