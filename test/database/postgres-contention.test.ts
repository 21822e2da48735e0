import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { Client } from 'pg';
import { pino } from 'pino';
import {
  openPostgresDatabase,
  type PostgresDatabase,
} from '../../server/storage/sql/database-postgres.ts';
import { readProcedure, type Tx, writeProcedure } from '../../server/storage/sql/procedure.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { resultOf } from '../support/database/contract.ts';

const lock = (tx: Tx, name: string) =>
  tx.query(`select value from purses where name = $1 ${tx.locks.update}`, [name]);
const pay = (tx: Tx, name: string, amount: number) =>
  tx.query('update purses set value = value + $2 where name = $1', [name, amount]);

let barrier: () => Promise<void> = async () => {};

/** Procedures whose transactions conflict. */
const procedures = {
  prepare: writeProcedure(async (tx): Promise<void> => {
    await tx.query('create table if not exists purses (name text primary key, value integer)');
    await tx.query("insert into purses values ('a', 0), ('b', 0) on conflict do nothing");
  }),
  /**
   * Takes from one purse, then gives to another: two opposite moves deadlock. Without a deadline: the
   * server looks for deadlocks only after some time, and a busy machine needs the rest of 800 ms.
   */
  move: writeProcedure(
    async (tx, { from, to }: { from: string; to: string }): Promise<void> => {
      await pay(tx, from, -1);
      await barrier();
      await pay(tx, to, 1);
    },
    { noDeadline: true },
  ),
  /** Locks a row, pauses, and writes it. */
  raise: writeProcedure(async (tx, { name }: { name: string }): Promise<number> => {
    const [row] = await lock(tx, name);
    await Bun.sleep(1);
    await tx.query('update purses set value = $2 where name = $1', [name, Number(row?.value) + 1]);
    return Number(row?.value) + 1;
  }),
  /** Takes a name that may be free only once. */
  open: writeProcedure(async (tx, { name }: { name: string }): Promise<'new' | 'there'> => {
    const [existing] = await tx.query('select 1 as one from purses where name = $1', [name]);
    if (existing) return 'there';
    await barrier();
    await tx.query('insert into purses values ($1, 0)', [name]);
    return 'new';
  }),
  /** Changes a purse; the first `times` attempts lose their connection before the commit. */
  loseConnection: writeProcedure(
    async (tx, input: { name: string; times: number }): Promise<number> => {
      await pay(tx, input.name, 1);
      if (input.times-- > 0) {
        const [own] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        await terminate(own?.pid ?? 0);
      }
      await pay(tx, input.name, 1);
      return input.times;
    },
  ),
  /** Leaves its transaction idle for `ms` in the first attempt. */
  stall: writeProcedure(
    async (tx, input: { name: string; ms: number }): Promise<void> => {
      await pay(tx, input.name, 1);
      const { ms } = input;
      input.ms = 0;
      await Bun.sleep(ms);
      await pay(tx, input.name, 1);
    },
    { noDeadline: true },
  ),
  sleep: writeProcedure(async (tx, { ms }: { ms: number }): Promise<void> => {
    await tx.query('select pg_sleep($1)', [ms / 1_000]);
  }),
  sleepWithoutDeadline: writeProcedure(
    async (tx, { ms }: { ms: number }): Promise<void> => {
      await tx.query('select pg_sleep($1)', [ms / 1_000]);
    },
    { noDeadline: true },
  ),
  /** Throws after its first statement; `pids` receives the ids of its server processes. */
  fail: readProcedure(async (tx, { pids }: { pids: number[] }): Promise<void> => {
    const [own] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    pids.push(own?.pid ?? 0);
    throw new TypeError('a defect');
  }),
  /** Reads without a deadline, like an export, until `until` resolves. */
  exportSlowly: readProcedure((_, { until }: { until: Promise<void> }) => until, {
    noDeadline: true,
  }),
  ignoreError: writeProcedure(async (tx): Promise<void> => {
    await tx.query('select 1 / 0').catch(() => {});
  }),
  read: readProcedure(async (tx): Promise<Record<string, number>> => {
    const rows = await tx.query<{ name: string; value: number }>(
      'select name, value from purses order by name',
    );
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  }),
  readDurability: readProcedure(
    async (tx) =>
      (await tx.query("select current_setting('synchronous_commit') as value"))[0]?.value,
  ),
};

let server: PostgresServer;
let admin: Client;
let database: PostgresDatabase<typeof procedures>;
let databases = 0;

beforeAll(async () => {
  server = await startPostgres({ fsync: false, maxConnections: 30 });
  admin = new Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

const terminate = (pid: number) => admin.query('select pg_terminate_backend($1)', [pid]);

async function open(): Promise<PostgresDatabase<typeof procedures>> {
  const url = await server.createDatabase(`meeting_${databases++}`);
  database = await openPostgresDatabase({ procedures, url, logger: pino({ enabled: false }) });
  await database.store.prepare({});
  return database;
}
afterEach(async () => {
  barrier = async () => {};
  await database.close();
});

/** A barrier for the first `parties` callers; later callers do not wait. */
function createBarrier(parties: number): () => Promise<void> {
  let arrived = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  return () => {
    if (++arrived >= parties) resolve();
    return promise;
  };
}

test('[N-19] two transactions in a deadlock are both saved, one after the other', async () => {
  const { store } = await open();
  barrier = createBarrier(2);
  await Promise.all([store.move({ from: 'a', to: 'b' }), store.move({ from: 'b', to: 'a' })]);
  expect(await store.read({})).toEqual({ a: 0, b: 0 });
});

test('[N-19] many concurrent transactions on one row run as if one after the other', async () => {
  const { store } = await open();
  const outcomes: unknown[] = [];
  for (let round = 0; round < 10; round++) {
    outcomes.push(
      ...(await Promise.all(
        Array.from({ length: 20 }, () => resultOf(store.raise({ name: 'a' }))),
      )),
    );
  }
  expect(outcomes).toEqual(expect.arrayContaining(Array.from({ length: 200 }, (_, n) => n + 1)));
  expect(await store.read({})).toEqual({ a: 200, b: 0 });
});

test('[N-19] two transactions that find a name free do not both take it, and neither fails', async () => {
  const { store } = await open();
  barrier = createBarrier(2);
  const opens = [store.open({ name: 'c' }), store.open({ name: 'c' })];
  expect((await Promise.all(opens)).sort()).toEqual(['new', 'there']);
});

test('[N-19] a transaction whose connection ends before the commit is run again', async () => {
  const { store } = await open();
  await store.loseConnection({ name: 'a', times: 1 });
  expect(await store.read({})).toEqual({ a: 2, b: 0 });
  expect(await resultOf(store.loseConnection({ name: 'b', times: 99 }))).toStartWith('Unavailable');
  expect(await store.read({})).toEqual({ a: 2, b: 0 });
});

test('[N-19] a process that stalls in a transaction loses its locks, but its work is done again', async () => {
  const { store } = await open();
  const stalled = store.stall({ name: 'a', ms: 1_500 });
  await Bun.sleep(1_200);
  // The row is unlocked again: the server has ended the transaction that locked it.
  await store.raise({ name: 'a' });
  await stalled;
  expect(await store.read({})).toEqual({ a: 3, b: 0 });
});

test('[R-15] a slow statement does not make the server unavailable', async () => {
  const { store, unavailableReason } = await open();
  await store.sleep({ ms: 600 });
  expect(await resultOf(store.sleep({ ms: 5_000 }))).toBe(
    'Unavailable: The database did not answer in time.',
  );
  await store.sleepWithoutDeadline({ ms: 1_500 });
  expect(unavailableReason()).toBeNull();
});

test('[R-15] sealing gets a connection while slow calls use all others', async () => {
  const { store } = await open();
  const slow = Array.from({ length: 30 }, () => resultOf(store.sleep({ ms: 700 })));
  await Bun.sleep(50);
  const startMs = performance.now();
  await store.sleepWithoutDeadline({ ms: 0 });
  expect(performance.now() - startMs).toBeLessThan(600);
  await Promise.all(slow);
});

test('[R-15] sealing runs while many exports wait', async () => {
  const { store } = await open();
  const ended = Promise.withResolvers<void>();
  const exports = Array.from({ length: 1_001 }, () =>
    resultOf(store.exportSlowly({ until: ended.promise })),
  );
  expect(await exports.at(-1)).toEqual('Unavailable: The database is busy.');
  expect(await resultOf(store.sleepWithoutDeadline({ ms: 1 }))).toBeUndefined();
  ended.resolve();
  await Promise.all(exports);
});

test('[N-19] a defect of a procedure is not retried, and keeps its connection', async () => {
  const { store } = await open();
  const pids: number[] = [];
  for (let n = 0; n < 3; n++) {
    expect(await resultOf(store.fail({ pids }))).toContain('The database failed: fail: a defect');
  }
  expect(pids).toHaveLength(3);
  expect(new Set(pids).size).toBe(1);
});

test('[N-10] a stalled process does not report the server as unavailable', async () => {
  const { store, unavailableReason } = await open();
  const waiting = Array.from({ length: 20 }, () => store.raise({ name: 'a' }));
  Bun.sleepSync(500);
  await Promise.all(waiting);
  expect(unavailableReason()).toBeNull();
});

test('[R-1] a procedure that ignores a failed statement saves nothing and fails', async () => {
  const { store } = await open();
  expect(await resultOf(store.ignoreError({}))).toStartWith(
    'Unavailable: The database failed: ignoreError',
  );
});

test('[R-2] acknowledged writes are on disk, whatever the default of the database is', async () => {
  const url = await server.createDatabase(`meeting_${databases++}`);
  const name = new URL(url).pathname.slice(1);
  await admin.query(`alter database ${name} set synchronous_commit = off`);
  database = await openPostgresDatabase({ procedures, url, logger: pino({ enabled: false }) });
  expect(await database.store.readDurability({})).toBe('on');
});
