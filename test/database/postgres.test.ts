import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { pino } from 'pino';
import { openPostgresDatabase } from '../../server/storage/sql/database-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { databaseContract, resultOf } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';

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
