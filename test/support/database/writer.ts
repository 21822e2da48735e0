// A process that a test kills. It adds notes with unique keys in an endless loop, and prints the number of
// each acknowledged note. Its argument is the directory or URL of the database.
import { pino } from 'pino';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { openSqliteDatabase } from '../../../server/storage/sql/database-sqlite.ts';
import { testProcedures } from './procedures.ts';

const location = process.argv[2] ?? '';
const { store } = location.startsWith('postgres:')
  ? await openPostgresDatabase({
      procedures: testProcedures,
      url: location,
      logger: pino({ enabled: false }),
    })
  : await openSqliteDatabase({
      procedures: testProcedures,
      worker: new URL('./worker.ts', import.meta.url),
      directory: location,
      onFailed: (reason) => {
        throw new Error(reason);
      },
    });

for (let number = 0; ; number++) {
  const text = `note ${number}`;
  const idempotency = { owner: 'a', key: text, fingerprint: text, nowMs: 0 };
  await store.add({ text }, idempotency);
  process.stdout.write(`${number}\n`);
}
