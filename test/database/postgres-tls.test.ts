import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { pino } from 'pino';
import { openPostgresDatabase } from '../../server/storage/sql/database-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { told } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false, tls: true });
});
afterAll(() => server.stop());

/** What came of opening the database with these parameters in its url: its first note, or an error. */
async function opening(params: Record<string, string>): Promise<unknown> {
  const url = new URL(server.url);
  url.search = new URLSearchParams(params).toString();
  const logger = pino({ enabled: false });
  return told(
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

const OPEN = { whole: 4, text: 'quiz', counted: 1 };

test('[N-2] sslmode in the url means what it means elsewhere: require, verify-full, disable', async () => {
  expect(await opening({ sslmode: 'require' })).toEqual(OPEN);
  const sslrootcert = join(server.directory, 'data', 'server.crt');
  expect(await opening({ sslmode: 'verify-full', sslrootcert })).toEqual(OPEN);
  expect(await opening({ sslmode: 'verify-full' })).toMatch(
    /^Error: the database in PostgreSQL cannot be opened: [^\n]*self[- ]signed certificate/,
  );
  expect(await opening({ sslmode: 'disable' })).toMatch(
    /^Error: the database in PostgreSQL cannot be opened: [^\n]*no encryption$/,
  );
});

test('[R-15] with TLS too, a statement that is slow is no sign that the server is unavailable', async () => {
  const logger = pino({ enabled: false });
  const { store, unavailable, close } = await openPostgresDatabase({
    procedures: testProcedures,
    url: server.url,
    logger,
  });
  try {
    await store.prepare({});
    let wentUnavailable: string | null = null;
    const blocked = store.block({ ms: 1_200 });
    const watch = setInterval(() => {
      wentUnavailable ??= unavailable();
    }, 10);
    await blocked;
    clearInterval(watch);
    expect(wentUnavailable).toBeNull();
    const waiting = told(store.list({}));
    server.pause();
    expect(['', await waiting, await told(store.list({}))]).toContain(
      'Unavailable: The database is unavailable.',
    );
    server.resume();
    while (typeof (await told(store.add({ text: 'healed' }))) !== 'number') await Bun.sleep(10);
  } finally {
    server.resume();
    await close();
  }
});
