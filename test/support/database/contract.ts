import { afterEach, describe, expect, test } from 'bun:test';
import { DomainError, Unavailable } from '../../../server/platform/errors.ts';
import {
  ACCOUNT_OUTPUT_CHARS_MAX,
  IDEMPOTENCY_TTL_MS,
  STORED_OUTPUT_CHARS_MAX,
} from '../../../server/storage/sql/idempotency.ts';
import { type Dialect, migrations } from '../../../server/storage/sql/migrate.ts';
import type { Database } from '../../../server/storage/sql/procedure.ts';
import { withinBudget } from '../../../server/storage/sql/request-budget.ts';
import type { testProcedures } from './procedures.ts';

export type TestDatabase = Database<typeof testProcedures>;

/** A kind of database to run the contract on. */
export interface DatabaseFixture {
  readonly dialect: Dialect;
  /** A directory or URL without a database. */
  newLocation(): Promise<string>;
  open(location: string): Promise<TestDatabase>;
}

/** Calls to PostgreSQL run concurrently; after this time the first one has its locks. */
const LOCK_WAIT_MS = 200;

/** The output of a call, or the name and message of its error. */
export async function resultOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: Error) => `${error.name}: ${error.message}`);
}

/** An idempotency key with defaults. */
export const keyed = (key: string, fingerprint = key, nowMs = 0, owner = 'an account') => ({
  owner,
  key,
  fingerprint,
  nowMs,
});

/** The contract of every database (SPEC R). */
export function databaseContract(fixture: DatabaseFixture): void {
  const opened: TestDatabase[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });

  async function open(location?: string): Promise<TestDatabase> {
    const database = await fixture.open(location ?? (await fixture.newLocation()));
    opened.push(database);
    await database.store.prepare({});
    return database;
  }

  describe(`the database in ${fixture.dialect}`, () => {
    test('values are returned unchanged, and counts are numbers', async () => {
      const { store } = await open();
      const whole = 2 ** 53 - 1;
      expect(await store.echo({ whole, text: 'quiz' })).toEqual({
        whole,
        text: 'quiz',
        counted: 1,
      });
      expect(await store.echo({ whole: -1, text: null })).toEqual({
        whole: -1,
        text: null,
        counted: 0,
      });
      const text = 'ein „Zitat“, ein \\ und \u{1f389}';
      expect(await store.addRows({ notes: [] })).toBe(0);
      expect(
        await store.addRows({
          notes: [
            [1, text],
            [2, null],
          ],
        }),
      ).toBe(2);
      expect(await store.addRows({ notes: [[2, 'again']] })).toBe(0);
      expect(await store.list({})).toEqual([text, 'none']);
    });

    test('insertNew adds rows with a new key, and the first of several with one key', async () => {
      const { store } = await open();
      expect(await store.insertPoints([])).toEqual([]);
      const some = [
        [2, 1, 10],
        [1, 2, 11],
        [2, 1, 12],
        [1, 1, 13],
      ] as const;
      expect(await store.insertPoints(some)).toEqual([true, true, false, true]);
      expect(
        await store.insertPoints([
          [1, 1, 20],
          [3, 0, 21],
        ]),
      ).toEqual([false, true]);
      expect(await store.listPoints({})).toEqual([
        [1, 1, 13],
        [1, 2, 11],
        [2, 1, 10],
        [3, 0, 21],
      ]);
    });

    test('[R-3] a call that is rejected or fails undoes no other call', async () => {
      const { store } = await open();
      const outcomes = await Promise.all([
        resultOf(store.add({ text: 'one' })),
        resultOf(store.addThenReject({ text: 'two' })),
        resultOf(store.add({ text: 'three' })),
        resultOf(store.addThenFail({ text: 'four' })),
        resultOf(store.add({ text: 'five' })),
      ]);
      expect(outcomes.filter((outcome) => typeof outcome === 'number').sort()).toEqual([1, 2, 3]);
      expect(outcomes[1]).toBe('DomainError: No.');
      expect(outcomes[3]).toBe('Unavailable: The database failed: addThenFail: a defect.');
      expect((await store.list({})).sort()).toEqual(['five', 'one', 'three']);
    });

    test('[R-1] a call fails when its commit fails', async () => {
      const { store } = await open();
      await store.add({ text: 'before' });
      expect(await resultOf(store.failCommit({ text: 'spoilt' }))).toStartWith(
        'Unavailable: The database failed',
      );
      await store.add({ text: 'after' });
      expect(await store.list({})).toEqual(['before', 'after']);
    });

    test('[R-1] a read sees everything that was acknowledged before it, also by other processes', async () => {
      const location = await fixture.newLocation();
      const [first, second] = [await open(location), await open(location)];
      const texts: string[] = [];
      for (let note = 0; note < 50; note++) {
        texts.push(`note ${note}`);
        await first.store.add({ text: `note ${note}` });
        expect(await second.store.list({})).toEqual(texts);
      }
    });

    test('[R-4] a long commit does not delay reads', async () => {
      const { store } = await open();
      await store.add({ text: 'first' });
      let writerIsFree = false;
      const blocked = store.block({ ms: 500 }).then(() => {
        writerIsFree = true;
      });
      expect(await store.list({})).toEqual(['first']);
      expect(writerIsFree).toBe(false);
      await blocked;
    });

    test('[R-4] a read sees one snapshot of the database during concurrent writes', async () => {
      const { store } = await open();
      await store.add({ text: 'first' });
      const reading = store.countTwice({ ms: 300 });
      await Bun.sleep(50);
      await store.add({ text: 'second' });
      expect(await reading).toEqual([1, 1]);
      expect(await store.countTwice({ ms: 0 })).toEqual([2, 2]);
    });

    test('[R-7] a migration runs once when several programs open a new database at the same time', async () => {
      const location = await fixture.newLocation();
      const databases = await Promise.all([1, 2, 3, 4].map(() => open(location)));
      const expected = migrations(fixture.dialect).map(({ number, name }) => ({ number, name }));
      for (const { store } of databases) expect(await store.listMigrations({})).toEqual(expected);
      await Promise.all(databases.map((database) => database.close()));
      const again = await open(location);
      expect(await again.store.listMigrations({})).toEqual(expected);
    });

    test('[R-7] a database newer than the program is rejected and not changed', async () => {
      const location = await fixture.newLocation();
      const database = await open(location);
      await database.store.add({ text: 'kept' });
      await database.store.addFutureMigration({});
      const known = migrations(fixture.dialect);
      const newest = known.at(-1)?.number;
      expect(await resultOf(fixture.open(location))).toMatch(
        new RegExp(
          `^Error: [^\\n]*the database is at migration 9999, but this program knows only ${newest}; run a newer version$`,
        ),
      );
      expect(await database.store.list({})).toEqual(['kept']);
      expect(await database.store.listMigrations({})).toHaveLength(known.length + 1);
    });

    test('[R-10] [R-11] a key does its work once, and a repeated call gets the first output', async () => {
      const { store } = await open();
      expect(await store.add({ text: 'one' }, keyed('k'))).toBe(1);
      expect(await store.add({ text: 'one' }, keyed('k'))).toBe(1);
      const together = [0, 1, 2].map(() => store.add({ text: 'two' }, keyed('l')));
      expect(await Promise.all(together)).toEqual([2, 2, 2]);
      expect(await store.list({})).toEqual(['one', 'two']);
    });

    test('[R-14] a replay whose output is over 2 MB is a conflict, and the work is done once', async () => {
      const { store } = await open();
      const text = 'x'.repeat(STORED_OUTPUT_CHARS_MAX);
      expect(await store.addAndReturn({ text }, keyed('k'))).toBe(text);
      expect(await resultOf(store.addAndReturn({ text }, keyed('k')))).toStartWith('DomainError');
      expect(await store.list({})).toEqual([text]);
    });

    test('[R-14] an account stores 16 MB of long outputs, the newest, and other accounts keep theirs', async () => {
      const { store } = await open();
      const text = 'x'.repeat(STORED_OUTPUT_CHARS_MAX - 2);
      const places = ACCOUNT_OUTPUT_CHARS_MAX / STORED_OUTPUT_CHARS_MAX;
      await store.addAndReturn({ text }, keyed('k', 'f', 0, 'another account'));
      await store.addAndReturn({ text: 'short' }, keyed('short', 'f', 0));
      const call = (index: number) => store.addAndReturn({ text }, keyed(`k${index}`, 'f', index));
      for (let index = 0; index <= places; index++) await call(index);
      expect(await resultOf(call(0))).toMatch(/^DomainError: .*no longer stored/);
      expect(await call(1)).toBe(text);
      expect(await call(places)).toBe(text);
      expect(await store.addAndReturn({ text: 'short' }, keyed('short', 'f', 0))).toBe('short');
      const other = keyed('k', 'f', 0, 'another account');
      expect(await store.addAndReturn({ text }, other)).toBe(text);
      expect(await store.list({})).toHaveLength(places + 3);
    });

    test('[R-10] keys are separate for each account, and expire after 24 h', async () => {
      const { store } = await open();
      await store.add({ text: 'one' }, keyed('k', 'f', 1));
      await store.add({ text: 'other' }, keyed('k', 'f', 1, 'another account'));
      expect(await store.add({ text: 'one' }, keyed('k', 'f', IDEMPOTENCY_TTL_MS))).toBe(1);
      expect(await store.deleteExpiredIdempotencyKeys({ nowMs: IDEMPOTENCY_TTL_MS })).toBe(0);
      expect(await store.add({ text: 'later' }, keyed('k', 'f', IDEMPOTENCY_TTL_MS + 1))).toBe(3);
      expect(await store.list({})).toEqual(['one', 'other', 'later']);
      await store.add({ text: 'last' }, keyed('l', 'f', IDEMPOTENCY_TTL_MS + 2));
      expect(await store.deleteExpiredIdempotencyKeys({ nowMs: 2 * IDEMPOTENCY_TTL_MS + 1 })).toBe(
        1,
      );
    });

    test('[R-10] each new key deletes up to two expired keys', async () => {
      const { store } = await open();
      for (const key of ['a', 'b', 'c']) await store.add({ text: key }, keyed(key, key, 1));
      await store.add({ text: 'd' }, keyed('d', 'd', IDEMPOTENCY_TTL_MS + 1));
      expect(await store.deleteExpiredIdempotencyKeys({ nowMs: IDEMPOTENCY_TTL_MS + 1 })).toBe(1);
    });

    test('[R-12] a key with another request is a conflict and changes nothing', async () => {
      const { store } = await open();
      await store.add({ text: 'one' }, keyed('k', 'one'));
      const refused = await store.add({ text: 'two' }, keyed('k', 'two')).catch((error) => error);
      expect(refused).toBeInstanceOf(DomainError);
      expect(refused).toMatchObject({ kind: 'conflict' });
      expect(await store.list({})).toEqual(['one']);
    });

    test('[R-13] a request that failed does not use up its key', async () => {
      const { store } = await open();
      expect(await resultOf(store.addThenReject({ text: 'no' }, keyed('k')))).toBe(
        'DomainError: No.',
      );
      expect(await resultOf(store.failCommit({ text: 'no' }, keyed('k')))).toStartWith(
        'Unavailable',
      );
      expect(await store.add({ text: 'yes' }, keyed('k'))).toBe(1);
      expect(await store.list({})).toEqual(['yes']);
    });

    test('[R-10] [R-1] after kill -9 a key and its work are either both saved or both missing', async () => {
      const location = await fixture.newLocation();
      await (await open(location)).close();
      const child = Bun.spawn(
        [process.execPath, new URL('./writer.ts', import.meta.url).pathname, location],
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
      const lastAcknowledged = Number(printed.split('\n').at(-2));
      const { store } = await open(location);
      const survived = await store.list({});
      // At most two later notes exist: one was acknowledged and not printed, one was in flight.
      const all = Array.from({ length: lastAcknowledged + 3 }, (_, note) => `note ${note}`);
      expect(survived).toEqual(all.slice(0, survived.length));
      expect(survived.length).toBeGreaterThan(lastAcknowledged);
      // The client repeats all calls, since it does not know which ones the crash lost.
      for (const text of all) await store.add({ text }, { ...keyed(text), owner: 'a' });
      expect(await store.list({})).toEqual(all);
    });

    test('[R-15] a call without a result at its deadline is Unavailable while writes are blocked', async () => {
      const { store } = await open();
      let writerIsFree = false;
      const blocked = store.block({ ms: 1_500 }).then(() => {
        writerIsFree = true;
      });
      await Bun.sleep(LOCK_WAIT_MS);
      const refused = await store.add({ text: 'late' }).catch((error) => error);
      expect(refused).toBeInstanceOf(Unavailable);
      expect(refused.retryAfterS).toBeGreaterThanOrEqual(1);
      expect(writerIsFree).toBe(false);
      await blocked;
    });

    test('[R-15] a call that was rejected at its deadline does not run later', async () => {
      const { store } = await open();
      await store.add({ text: 'first' });
      const blocked = store.block({ ms: 1_500 });
      await Bun.sleep(LOCK_WAIT_MS);
      const refused = Array.from({ length: 30 }, () => resultOf(store.add({ text: 'refused' })));
      for (const outcome of await Promise.all(refused)) expect(outcome).toStartWith('Unavailable');
      await blocked;
      await store.add({ text: 'second' });
      expect(await store.list({})).toEqual(['first', 'second']);
    });

    test('[R-15] the calls of a request have together the time of one call', async () => {
      const { store } = await open();
      const blocked = store.block({ ms: 2_500 });
      await Bun.sleep(LOCK_WAIT_MS);
      const ended: string[] = [];
      const add = async (text: string) => {
        expect(await resultOf(store.add({ text }))).toStartWith('Unavailable');
        ended.push(text);
      };
      const read = Promise.withResolvers<void>();
      const request = withinBudget(async () => {
        await store.countTwice({ ms: 500 });
        read.resolve();
        await Bun.sleep(1);
        await add('second call of a request');
      });
      // Begins before the second call, with more time.
      await Promise.all([request, read.promise.then(() => add('first call'))]);
      expect(ended).toEqual(['second call of a request', 'first call']);
      await blocked;
      expect(await store.list({})).toEqual([]);
    });

    test('[R-15] a full queue rejects calls immediately, and accepts calls again when it has room', async () => {
      const database = await open();
      const blocked = database.store.block({ ms: 300 });
      const queued = Array.from({ length: 50_000 }, () =>
        resultOf(database.store.add({ text: 'queued' })),
      );
      expect(database.pending()).toBe(50_001);
      expect(await resultOf(database.store.add({ text: 'over' }))).toBe(
        'Unavailable: The database is busy.',
      );
      // A call without a deadline, such as a sealing, is queued separately.
      const noDeadlineCall = database.store.block({ ms: 0 });
      await Promise.all([blocked, noDeadlineCall, ...queued]);
      await database.store.block({ ms: 0 });
      expect(await database.store.add({ text: 'room' })).toBeGreaterThan(0);
      while (database.pending() > 0) await Bun.sleep(1);
    });

    test('[R-1] close commits the queued calls, and rejects later calls', async () => {
      const location = await fixture.newLocation();
      const database = await open(location);
      const queued = [1, 2, 3].map((note) => database.store.add({ text: `note ${note}` }));
      await database.close();
      expect((await Promise.all(queued)).sort()).toEqual([1, 2, 3]);
      expect(await resultOf(database.store.add({ text: 'later' }))).toStartWith('Unavailable');
      const again = await open(location);
      expect((await again.store.list({})).sort()).toEqual(['note 1', 'note 2', 'note 3']);
    });
  });
}
