import { Database } from 'bun:sqlite';
import { afterAll, afterEach, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal, Unavailable } from '../server/refusal.ts';
import { IDEMPOTENCY_MS } from '../server/sql/idempotency.ts';
import type { OpenRecord } from '../server/sql/procedure.ts';
import { openRecord } from '../server/sql/record-sqlite.ts';
import { testProcedures } from './record-procedures.ts';

type TestRecord = OpenRecord<typeof testProcedures>;

const root = mkdtempSync(join(tmpdir(), 'fourbeat-record-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const opened: TestRecord[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((record) => record.close()));
});

const newDirectory = () => join(mkdtempSync(join(root, 'data-')), 'record');

async function open(
  directory = newDirectory(),
  onLost: (reason: string) => void = () => {},
): Promise<TestRecord> {
  const record = await openRecord({
    procedures: testProcedures,
    worker: new URL('./record-worker.ts', import.meta.url),
    directory,
    onLost,
  });
  opened.push(record);
  return record;
}

/** What a promise came to, as a value: its output, or the name and message of its error. */
async function told(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: Error) => `${error.name}: ${error.message}`);
}

const keyed = (key: string, fingerprint = key, nowMs = 0, owner = 'an account') => ({
  owner,
  key,
  fingerprint,
  nowMs,
});

/** How many transactions the write-ahead log holds: frames that end one have a size in them. */
function commitsInLog(directory: string): number {
  const log = readFileSync(join(directory, 'record.sqlite-wal'));
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (log.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}

test('[R-1] what was answered is there for every other reader of the file', async () => {
  const directory = newDirectory();
  const { calls } = await open(directory);
  await calls.add({ text: 'first' });
  const other = new Database(join(directory, 'record.sqlite'), { readonly: true });
  for (let note = 0; note < 50; note++) {
    const number = await calls.add({ text: `note ${note}` });
    expect(other.query('select text from notes where number = ?').get(number)).toEqual({
      text: `note ${note}`,
    });
  }
  other.close();
});

test('[R-1] no success goes out when the commit fails, for none who shared it', async () => {
  const { calls } = await open();
  await calls.add({ text: 'before' });
  const shared = await Promise.all([
    told(calls.add({ text: 'shared' })),
    told(calls.spoilCommit({ text: 'spoilt' })),
  ]);
  for (const outcome of shared) expect(outcome).toStartWith('Unavailable: The record failed');
  await calls.add({ text: 'after' });
  expect(await calls.list({})).toEqual(['before', 'after']);
});

test('[R-2] both connections use a write-ahead log and full synchronisation', async () => {
  const { calls } = await open();
  expect(await calls.readDurability({})).toEqual(['wal', 2, 1]);
});

test('[R-2] [O-20] the directory is made for its owner only', async () => {
  const directory = newDirectory();
  await open(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test('[R-3] a command that is refused or broken undoes nothing of the others', async () => {
  const { calls } = await open();
  const outcomes = await Promise.all([
    told(calls.add({ text: 'one' })),
    told(calls.addThenRefuse({ text: 'two' })),
    told(calls.add({ text: 'three' })),
    told(calls.addThenBreak({ text: 'four' })),
    told(calls.add({ text: 'five' })),
  ]);
  expect(outcomes).toEqual([
    1,
    'Refusal: No.',
    2,
    'Unavailable: The record failed: addThenBreak: a defect.',
    3,
  ]);
  expect(await calls.list({})).toEqual(['one', 'three', 'five']);
});

test('[R-3] commands that wait together share one commit', async () => {
  const directory = newDirectory();
  const { calls } = await open(directory);
  await calls.add({ text: 'first' });
  const before = commitsInLog(directory);
  const blocked = calls.block({ ms: 100 });
  await Bun.sleep(20);
  await Promise.all(Array.from({ length: 200 }, (_, note) => calls.add({ text: `note ${note}` })));
  await blocked;
  expect((await calls.list({})).length).toBe(201);
  expect(commitsInLog(directory) - before).toBe(1);
});

test('[R-4] a long commit does not delay reads', async () => {
  const { calls } = await open();
  await calls.add({ text: 'first' });
  let writerIsFree = false;
  const blocked = calls.block({ ms: 500 }).then(() => {
    writerIsFree = true;
  });
  expect(await calls.list({})).toEqual(['first']);
  expect(writerIsFree).toBe(false);
  await blocked;
});

test('[R-4] a read sees one state of the record, whatever is written meanwhile', async () => {
  const { calls } = await open();
  await calls.add({ text: 'first' });
  const reading = calls.countTwice({ ms: 300 });
  await Bun.sleep(50);
  await calls.add({ text: 'second' });
  expect(await reading).toEqual([1, 1]);
  expect(await calls.countTwice({ ms: 0 })).toEqual([2, 2]);
});

test('[R-7] a migration runs once, also when two programs open a new record together', async () => {
  const directory = newDirectory();
  const [one, two] = await Promise.all([open(directory), open(directory)]);
  const applied = await one.calls.listMigrations({});
  expect(applied).toMatchObject([{ number: 1, name: 'record' }]);
  expect(await two.calls.listMigrations({})).toEqual(applied);
  await Promise.all([one.close(), two.close()]);
  const again = await open(directory);
  expect(await again.calls.listMigrations({})).toEqual(applied);
});

test('[R-7] a record newer than the program is refused and left as it is', async () => {
  const directory = newDirectory();
  const record = await open(directory);
  await record.calls.add({ text: 'kept' });
  await record.close();
  const newer = new Database(join(directory, 'record.sqlite'));
  newer.run("insert into migrations values (9999, 'from the future', 0)");
  newer.close();
  expect(await told(open(directory))).toBe(
    'Error: the record is at migration 9999, this program knows 1: run the newer version',
  );
  const left = new Database(join(directory, 'record.sqlite'), { readonly: true });
  expect(left.query('select text from notes').values()).toEqual([['kept']]);
  expect(left.query('select count(*) from migrations').values()).toEqual([[2]]);
  left.close();
});

test('[R-7] a directory that cannot be opened is told, and nothing hangs', async () => {
  const directory = join(root, 'a-file');
  writeFileSync(directory, '');
  expect(await told(open(directory))).toMatch(/^Error: .*a-file/);
});

test('[R-10] [R-11] a key does its work once, and a repeat hears the first output', async () => {
  const { calls } = await open();
  expect(await calls.add({ text: 'one' }, keyed('k'))).toBe(1);
  expect(await calls.add({ text: 'one' }, keyed('k'))).toBe(1);
  const together = [0, 1, 2].map(() => calls.add({ text: 'two' }, keyed('l')));
  expect(await Promise.all(together)).toEqual([2, 2, 2]);
  expect(await calls.list({})).toEqual(['one', 'two']);
});

test('[R-10] keys of accounts are apart, and are forgotten after 24 h', async () => {
  const { calls } = await open();
  await calls.add({ text: 'one' }, keyed('k', 'f', 1));
  await calls.add({ text: 'other' }, keyed('k', 'f', 1, 'another account'));
  expect(await calls.add({ text: 'one' }, keyed('k', 'f', IDEMPOTENCY_MS))).toBe(1);
  expect(await calls.forgetIdempotencyKeys({ nowMs: IDEMPOTENCY_MS })).toBe(0);
  expect(await calls.add({ text: 'later' }, keyed('k', 'f', IDEMPOTENCY_MS + 1))).toBe(3);
  expect(await calls.list({})).toEqual(['one', 'other', 'later']);
  await calls.add({ text: 'last' }, keyed('l', 'f', IDEMPOTENCY_MS + 2));
  expect(await calls.forgetIdempotencyKeys({ nowMs: 2 * IDEMPOTENCY_MS + 1 })).toBe(1);
});

test('[R-10] each new key takes old ones with it, so that they cannot pile up', async () => {
  const { calls } = await open();
  for (const key of ['a', 'b', 'c']) await calls.add({ text: key }, keyed(key, key, 1));
  await calls.add({ text: 'd' }, keyed('d', 'd', IDEMPOTENCY_MS + 1));
  expect(await calls.forgetIdempotencyKeys({ nowMs: IDEMPOTENCY_MS + 1 })).toBe(1);
});

test('[R-12] a key with another request is a conflict and changes nothing', async () => {
  const { calls } = await open();
  await calls.add({ text: 'one' }, keyed('k', 'one'));
  const refused = await calls.add({ text: 'two' }, keyed('k', 'two')).catch((error) => error);
  expect(refused).toBeInstanceOf(Refusal);
  expect(refused).toMatchObject({ kind: 'conflict' });
  expect(await calls.list({})).toEqual(['one']);
});

test('[R-13] a request that failed does not use up its key', async () => {
  const { calls } = await open();
  expect(await told(calls.addThenRefuse({ text: 'no' }, keyed('k')))).toBe('Refusal: No.');
  expect(await told(calls.spoilCommit({ text: 'no' }, keyed('k')))).toStartWith('Unavailable');
  expect(await calls.add({ text: 'yes' }, keyed('k'))).toBe(1);
  expect(await calls.list({})).toEqual(['yes']);
});

test('[R-10] [R-1] after kill -9 a key and its work are both there or both not', async () => {
  const directory = newDirectory();
  const child = Bun.spawn(
    [process.execPath, new URL('./record-writer.ts', import.meta.url).pathname, directory],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  let printed = '';
  try {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      printed += decoder.decode(chunk);
      if (printed.split('\n').length > 100) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
  }
  const lastTold = Number(printed.split('\n').at(-2));
  const { calls } = await open(directory);
  const survived = await calls.list({});
  const all = Array.from({ length: lastTold + 3 }, (_, note) => `note ${note}`);
  expect(survived).toEqual(all.slice(0, survived.length));
  expect(survived.length).toBeGreaterThan(lastTold);
  // Its client repeats everything, not knowing what the crash took.
  for (const text of all) await calls.add({ text }, { ...keyed(text), owner: 'a' });
  expect(await calls.list({})).toEqual(all);
});

test('[R-15] a call that gets no answer is Unavailable while the writer is still blocked', async () => {
  const { calls } = await open();
  let writerIsFree = false;
  const blocked = calls.block({ ms: 1_000 }).then(() => {
    writerIsFree = true;
  });
  const refused = await calls.add({ text: 'late' }).catch((error) => error);
  expect(refused).toBeInstanceOf(Unavailable);
  expect(refused.retryAfterS).toBeGreaterThanOrEqual(1);
  expect(writerIsFree).toBe(false);
  await blocked;
});

test('[R-15] what was refused at its deadline is not carried out later', async () => {
  const directory = newDirectory();
  const { calls } = await open(directory);
  await calls.add({ text: 'first' });
  const blocked = calls.block({ ms: 1_000 });
  expect(await told(calls.add({ text: 'refused' }))).toStartWith('Unavailable');
  await blocked;
  await calls.add({ text: 'second' });
  expect(await calls.list({})).toEqual(['first', 'second']);
  // The same where it is the transaction that cannot begin, since another process writes.
  const other = new Database(join(directory, 'record.sqlite'));
  other.run('begin immediate');
  expect(await told(calls.add({ text: 'refused' }))).toStartWith('Unavailable');
  other.run('commit');
  other.close();
  await calls.add({ text: 'third' });
  expect(await calls.list({})).toEqual(['first', 'second', 'third']);
});

test('[R-15] calls whose callers gave up stay in the queue’s bound until they leave it', async () => {
  const record = await open();
  const blocked = record.calls.block({ ms: 1_500 });
  const calls = Array.from({ length: 50_000 }, () => told(record.calls.add({ text: 'dead' })));
  await Promise.all(calls);
  expect(await told(record.calls.add({ text: 'over' }))).toBe('Unavailable: The record is busy.');
  // A patient call, such as a sealing, has a place beside them.
  await record.calls.block({ ms: 0 });
  await blocked;
  expect(await record.calls.add({ text: 'room' })).toBe(1);
  expect(record.pending()).toBe(0);
});

test('[R-15] a full queue refuses at once, and takes calls again when it has room', async () => {
  const record = await open();
  const blocked = record.calls.block({ ms: 300 });
  const queued = Array.from({ length: 50_000 }, () => told(record.calls.add({ text: 'queued' })));
  expect(record.pending()).toBe(50_001);
  expect(await told(record.calls.add({ text: 'over' }))).toBe('Unavailable: The record is busy.');
  await Promise.all([blocked, ...queued]);
  expect(record.pending()).toBe(0);
  await record.calls.block({ ms: 0 });
  expect(await record.calls.add({ text: 'room' })).toBeGreaterThan(0);
});

test('[R-15] when the writer is gone its calls are Unavailable, and the program is told', async () => {
  const reasons: string[] = [];
  const { calls } = await open(newDirectory(), (reason) => reasons.push(reason));
  await calls.add({ text: 'first' });
  expect(await told(calls.die({}))).toStartWith('Unavailable: The record is away');
  expect(await told(calls.add({ text: 'later' }))).toStartWith('Unavailable: The record is away');
  expect(await calls.list({})).toEqual(['first']);
  expect(reasons).toHaveLength(1);
});

test('[R-1] closing commits what is queued; later calls are refused, not left waiting', async () => {
  const directory = newDirectory();
  const record = await open(directory);
  const queued = [1, 2, 3].map((note) => record.calls.add({ text: `note ${note}` }));
  await record.close();
  expect(await Promise.all(queued)).toEqual([1, 2, 3]);
  expect(await told(record.calls.add({ text: 'later' }))).toStartWith('Unavailable');
  const again = await open(directory);
  expect(await again.calls.list({})).toEqual(['note 1', 'note 2', 'note 3']);
});
