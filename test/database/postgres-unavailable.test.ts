import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import { pino } from 'pino';
import {
  openPostgresDatabase,
  type PostgresDatabase,
} from '../../server/storage/sql/database-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { resultOf } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';

type TestDatabase = PostgresDatabase<typeof testProcedures>;

const CONNECTIONS_MAX = 40;

let server: PostgresServer;
const log: string[] = [];
const logger = pino({}, { write: (line) => log.push(line) });
beforeAll(async () => {
  server = await startPostgres({ maxConnections: CONNECTIONS_MAX });
});
afterAll(() => server.stop());

const opened: TestDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
});

let databases = 0;
const newDatabase = () => server.createDatabase(`unavailable_${databases++}`);

async function open(url?: string): Promise<TestDatabase> {
  const database = await openPostgresDatabase({
    procedures: testProcedures,
    url: url ?? (await newDatabase()),
    logger,
  });
  opened.push(database);
  await database.store.prepare({});
  return database;
}

/** The result or error of a call, and its duration. */
async function timed(call: Promise<unknown>): Promise<{ outcome: unknown; ms: number }> {
  const startMs = performance.now();
  const outcome = await resultOf(call);
  return { outcome, ms: performance.now() - startMs };
}

/** Waits until a write succeeds again. @returns milliseconds */
async function waitUntilWritable({ store }: TestDatabase): Promise<number> {
  const startMs = performance.now();
  while (typeof (await resultOf(store.add({ text: 'healed' }))) !== 'number') await Bun.sleep(10);
  return performance.now() - startMs;
}

test('[N-10] [N-11] a stopped server fails each call within 300 ms, and calls succeed within 2 s of its return', async () => {
  const database = await open();
  await database.store.add({ text: 'before' });
  server.pause();
  const first = Array.from({ length: 40 }, (_, n) =>
    timed(n % 2 === 0 ? database.store.add({ text: 'first' }) : database.store.list({})),
  );
  const sealing = resultOf(database.store.block({ ms: 0 }));
  for (const { outcome, ms } of await Promise.all(first)) {
    expect(outcome).toBe('Unavailable: The database is unavailable.');
    expect(ms).toBeLessThan(300);
  }
  expect(database.unavailableReason()).toBe('it does not respond');
  for (let attempt = 0; attempt < 10; attempt++) {
    await Bun.sleep(270);
    const { outcome, ms } = await timed(database.store.add({ text: 'later' }));
    expect(outcome).toBe('Unavailable: The database is unavailable.');
    expect(ms).toBeLessThan(50);
  }
  server.resume();
  expect(await waitUntilWritable(database)).toBeLessThan(2_000);
  // A call without a deadline has waited; it ran, or its caller knows that the result is uncertain.
  expect([undefined, expect.stringMatching(/^Unavailable/)]).toContainEqual(await sealing);
  // Rejected calls do not run afterwards.
  await Bun.sleep(300);
  expect((await database.store.list({})).filter((text) => text === 'later')).toEqual([]);
  expect(database.unavailableReason()).toBeNull();
});

test('[N-10] [N-11] [R-1] a killed server keeps acknowledged writes, and calls are Unavailable until it is available again', async () => {
  const database = await open();
  const acknowledged: unknown[] = [];
  let isDown = false;
  const writer = (async () => {
    for (let note = 0; !isDown; note++) {
      const text = `note ${note}`;
      const outcome = await resultOf(database.store.add({ text }));
      if (typeof outcome === 'number') acknowledged.push(text);
      else await Bun.sleep(1);
    }
  })();
  await Bun.sleep(300);
  await server.kill9();
  await Bun.sleep(100);
  isDown = true;
  await writer;
  const { outcome, ms } = await timed(database.store.list({}));
  expect(outcome).toBe('Unavailable: The database is unavailable.');
  expect(ms).toBeLessThan(300);
  await server.start();
  expect(await waitUntilWritable(database)).toBeLessThan(2_000);
  const saved = (await database.store.list({})).filter((text) => text !== 'healed');
  expect(saved).toEqual(expect.arrayContaining(acknowledged));
  // At most one other write is saved: the one whose commit was in flight.
  expect(saved.length - acknowledged.length).toBeLessThanOrEqual(1);
});

test('[N-10] [N-11] a server that is shut down and restarted is used again', async () => {
  const database = await open();
  await server.halt();
  const { outcome, ms } = await timed(database.store.list({}));
  expect(outcome).toBe('Unavailable: The database is unavailable.');
  expect(ms).toBeLessThan(300);
  await server.start();
  expect(await waitUntilWritable(database)).toBeLessThan(2_000);
});

/** Two ways to make a server read-only; without `isOn`, to make it writable again. */
const READ_ONLY_SETTINGS: Record<string, (name: string, isOn: boolean) => string[]> = {
  'in open sessions': (_, isOn) => [
    `alter system ${isOn ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'}`,
    'select pg_reload_conf()',
  ],
  'in new sessions': (name, isOn) => [
    `alter database ${name} set default_transaction_read_only = ${isOn ? 'on' : 'off'}`,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fourbeat'",
  ],
};

test.each(Object.keys(READ_ONLY_SETTINGS))(
  '[N-10] [N-11] a server that becomes read-only %s is unavailable until it takes writes again',
  async (kind) => {
    const url = await newDatabase();
    const database = await open(url);
    await Promise.all(Array.from({ length: 20 }, () => database.store.add({ text: 'before' })));
    const setReadOnly = async (isOn: boolean) => {
      const admin = new Client({ connectionString: server.url });
      await admin.connect();
      for (const statement of READ_ONLY_SETTINGS[kind]?.(new URL(url).pathname.slice(1), isOn) ??
        []) {
        await admin.query(statement);
      }
      await admin.end();
    };
    await setReadOnly(true);
    try {
      // Open sessions read the setting a moment after the reload.
      let first = await timed(database.store.add({ text: 'early' }));
      while (typeof first.outcome === 'number') {
        await Bun.sleep(5);
        first = await timed(database.store.add({ text: 'early' }));
      }
      expect(first.outcome).toBe('Unavailable: The database is unavailable.');
      expect(first.ms).toBeLessThan(300);
      expect(database.unavailableReason()).toBe('the server is read-only');
      const sealing = database.store.block({ ms: 0 });
      for (const call of [
        database.store.add({ text: 'later' }),
        database.store.list({}),
        sealing,
      ]) {
        const { outcome, ms } = await timed(call);
        expect(outcome).toBe('Unavailable: The database is unavailable.');
        expect(ms).toBeLessThan(50);
      }
      await Bun.sleep(500);
      expect(database.unavailableReason()).toBe('the server is read-only');
    } finally {
      await setReadOnly(false);
    }
    expect(await waitUntilWritable(database)).toBeLessThan(2_000);
    expect(database.unavailableReason()).toBeNull();
  },
);

test('[N-11] an idle node notices that the server is unavailable, and that it is available again', async () => {
  const database = await open();
  server.pause();
  while (database.unavailableReason() === null) await Bun.sleep(20);
  server.resume();
  while (database.unavailableReason() !== null) await Bun.sleep(20);
  expect(await database.store.add({ text: 'there' })).toBe(1);
});

test('[N-19] idle connections that are ended are opened again', async () => {
  const url = await newDatabase();
  const database = await open(url);
  await Promise.all(Array.from({ length: 30 }, () => database.store.list({})));
  const admin = new Client({ connectionString: url });
  await admin.connect();
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fourbeat'",
  );
  await admin.end();
  expect(await database.store.add({ text: 'one' })).toBe(1);
  expect(database.unavailableReason()).toBeNull();
});

test('[N-10] close returns immediately while the server is unavailable', async () => {
  const database = await open();
  server.pause();
  try {
    const noDeadlineCall = resultOf(database.store.block({ ms: 0 }));
    expect(await resultOf(database.store.list({}))).toStartWith('Unavailable');
    await database.close();
    expect(await noDeadlineCall).toStartWith('Unavailable');
  } finally {
    server.resume();
  }
});

test('[N-19] a node works with its open connections while the server accepts no further ones', async () => {
  const url = await newDatabase();
  const database = await open(url);
  const others: Client[] = [];
  try {
    for (;;) {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect();
      others.push(client);
    }
  } catch (error) {
    expect(String(error)).toMatch(/too many|remaining connection slots/);
  }
  // More than there are connections, and few enough for the time limit of a busy machine.
  const writes = Array.from({ length: 12 }, () => database.store.add({ text: 'busy' }));
  expect(await Promise.all(writes)).toHaveLength(12);
  expect(database.unavailableReason()).toBeNull();
  // A node that starts now has to wait.
  expect(
    await resultOf(openPostgresDatabase({ procedures: testProcedures, url, logger })),
  ).toStartWith('Unavailable: ');
  await Promise.all(others.map((client) => client.end()));
});

describe('[N-2] a configuration error is one line without the password', () => {
  const SECRET = 'Secret-4711';
  async function openAt(change: (url: URL) => void): Promise<unknown> {
    const url = new URL(server.url);
    change(url);
    return resultOf(openPostgresDatabase({ procedures: testProcedures, url: url.href, logger }));
  }

  test.each<[string, (url: URL) => void, RegExp]>([
    [
      'a wrong password',
      (url) => {
        url.password = SECRET;
      },
      /^Error: the database in PostgreSQL cannot be opened: password authentication failed for user "fourbeat"$/,
    ],
    [
      'no such user',
      (url) => {
        url.username = 'nobody';
        url.password = SECRET;
      },
      /^Error: [^\n]*password authentication failed for user "nobody"$/,
    ],
    [
      'no such database',
      (url) => {
        url.pathname = '/missing';
      },
      /^Error: [^\n]*database "missing" does not exist$/,
    ],
    [
      'a server without TLS',
      (url) => {
        url.searchParams.set('sslmode', 'require');
      },
      /^Error: [^\n]*The server does not support SSL connections$/,
    ],
  ])('%s', async (_, change, line) => {
    expect(await openAt(change)).toMatch(line);
  });

  test('a missing server is Unavailable, since it may start later', async () => {
    const outcome = await openAt((url) => {
      url.port = '1';
    });
    expect(outcome).toMatch(/^Unavailable: [^\n]*ECONNREFUSED/);
  });

  test('the log contains no password', () => {
    expect(log.length).toBeGreaterThan(0);
    expect(log.join('')).not.toContain(new URL(server.url).password);
    expect(log.join('')).not.toContain(SECRET);
  });
});
