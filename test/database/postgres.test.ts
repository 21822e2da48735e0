import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { openPostgresDatabase } from '../../server/storage/sql/database-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { databaseContract, resultOf } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';
import { until } from '../support/until.ts';

const logger = pino({ enabled: false });

let server: PostgresServer;
let tlsServer: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  tlsServer = await startPostgres({ fsync: false, tls: true });
});
afterAll(() => Promise.all([server.stop(), tlsServer.stop()]));

let databases = 0;

databaseContract({
  dialect: 'postgres',
  newLocation: () => server.createDatabase(`record_${databases++}`),
  open: (url) => openPostgresDatabase({ procedures: testProcedures, url, logger }),
});

/** Opens the database with these URL parameters. @returns an echoed row, or the error */
async function openWith(params: Record<string, string>): Promise<unknown> {
  const url = new URL(tlsServer.url);
  url.search = new URLSearchParams(params).toString();
  return resultOf(
    openPostgresDatabase({ procedures: testProcedures, url: url.href, logger }).then(
      async ({ store, close }) => {
        try {
          return await store.echo({ whole: 4, text: 'quiz' });
        } finally {
          await close();
        }
      },
    ),
  );
}

const ECHO = { whole: 4, text: 'quiz', counted: 1 };

test('[N-2] sslmode in the URL has the meaning that it has for psql: require, verify-full, disable', async () => {
  expect(await openWith({ sslmode: 'require' })).toEqual(ECHO);
  const sslrootcert = join(tlsServer.directory, 'data', 'server.crt');
  expect(await openWith({ sslmode: 'verify-full', sslrootcert })).toEqual(ECHO);
  expect(await openWith({ sslmode: 'verify-full' })).toMatch(
    /^Error: the database in PostgreSQL cannot be opened: [^\n]*self[- ]signed certificate/,
  );
  expect(await openWith({ sslmode: 'disable' })).toMatch(
    /^Error: the database in PostgreSQL cannot be opened: [^\n]*no encryption$/,
  );
});

test('[R-15] a slow statement over TLS does not make the server unavailable', async () => {
  const { store, unavailableReason, close } = await openPostgresDatabase({
    procedures: testProcedures,
    url: tlsServer.url,
    logger,
  });
  try {
    await store.prepare({});
    let observedReason: string | null = null;
    const blocked = store.block({ ms: 1_200 });
    const watch = setInterval(() => {
      observedReason ??= unavailableReason();
    }, 10);
    await blocked;
    clearInterval(watch);
    expect(observedReason).toBeNull();
    const first = resultOf(store.list({}));
    tlsServer.pause();
    // The first call may have ended before the pause.
    expect(['', await first, await resultOf(store.list({}))]).toContain(
      'Unavailable: The database is unavailable.',
    );
    tlsServer.resume();
    while (typeof (await resultOf(store.add({ text: 'healed' }))) !== 'number') await Bun.sleep(10);
  } finally {
    tlsServer.resume();
    await close();
  }
});

test('[R-7] a migration that waits for the lock of a dump lets others use the table, and is done after the dump', async () => {
  const url = await server.createDatabase('migrated');
  const open = () => openPostgresDatabase({ procedures: testProcedures, url, logger });
  await (await open()).close();
  const dump = new Client({ connectionString: url });
  const node = new Client({ connectionString: url });
  await Promise.all([dump.connect(), node.connect()]);
  try {
    await node.query('alter table watermark drop column sealed_in');
    await node.query('delete from migrations where number = 20');
    await dump.query('begin; select interval from watermark');
    const opening = open();
    await until('the migration waits', async () => {
      const { rows } = await node.query(
        `select 1 from pg_locks where not granted and relation = 'watermark'::regclass`,
      );
      return rows.length > 0;
    });
    // Behind the waiting migration.
    await node.query('update watermark set interval = 7');
    await dump.query('commit');
    await (await opening).close();
    const { rows } = await node.query('select sealed_in, interval::int from watermark');
    expect(rows).toEqual([{ sealed_in: null, interval: 7 }]);
  } finally {
    await Promise.all([dump.end(), node.end()]);
  }
});

/** Starts a proxy that withholds what a client sends from the first chunk with this text on. */
async function startSilentProxy(port: number, text: string) {
  const proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let isSilent = false;
    client.on('data', (bytes) => {
      isSilent ||= bytes.includes(text);
      if (!isSilent) upstream.write(bytes);
    });
    upstream.pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { port: (proxy.address() as AddressInfo).port, stop: () => proxy.close() };
}

test('[R-7] a migration that stops between two statements loses its locks within 7 s, and can be done again', async () => {
  const url = await server.createDatabase('stopped');
  const openAt = (at: string) =>
    openPostgresDatabase({ procedures: testProcedures, url: at, logger });
  await (await openAt(url)).close();
  const proxy = await startSilentProxy(server.port, 'insert into migrations');
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  const node = new Client({ connectionString: url });
  await node.connect();
  try {
    await node.query('alter table watermark drop column sealed_in');
    await node.query('delete from migrations where number = 20');
    const opening = resultOf(openAt(proxied.href));
    await until('the migration has locked the table', async () => {
      const { rows } = await node.query(
        `select 1 from pg_locks where granted and mode = 'AccessExclusiveLock'
           and relation = 'watermark'::regclass`,
      );
      return rows.length > 0;
    });
    await node.query("set statement_timeout = '7s'");
    await node.query('update watermark set interval = 7');
    // A node tries again after this error (N-2).
    expect(await opening).toStartWith('Unavailable: ');
    await (await openAt(url)).close();
    const { rows } = await node.query('select sealed_in, interval::int from watermark');
    expect(rows).toEqual([{ sealed_in: null, interval: 7 }]);
  } finally {
    await node.end();
    proxy.stop();
  }
});
