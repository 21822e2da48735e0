// A process that a test kills: it adds notes under keys of their own, without end, and prints the
// number of each one that was acknowledged. The database is in the directory or at the url given.
import { pino } from 'pino';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { openSqliteDatabase } from '../../../server/storage/sql/database-sqlite.ts';
import { testProcedures } from './procedures.ts';

const place = process.argv[2] ?? '';
const { store } = place.startsWith('postgres:')
  ? await openPostgresDatabase({
      procedures: testProcedures,
      url: place,
      logger: pino({ enabled: false }),
    })
  : await openSqliteDatabase({
      procedures: testProcedures,
      worker: new URL('./worker.ts', import.meta.url),
      directory: place,
      onFailed: (reason) => {
        throw new Error(reason);
      },
    });

for (let note = 0; ; note++) {
  const text = `note ${note}`;
  const once = { owner: 'a', key: text, fingerprint: text, nowMs: 0 };
  await store.add({ text }, once);
  process.stdout.write(`${note}\n`);
}
