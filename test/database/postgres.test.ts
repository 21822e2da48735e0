import { afterAll, beforeAll } from 'bun:test';
import { pino } from 'pino';
import { openPostgresDatabase } from '../../server/storage/sql/database-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { databaseContract } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';

const logger = pino({ enabled: false });

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(() => server.stop());

let databases = 0;

databaseContract({
  dialect: 'postgres',
  newLocation: () => server.createDatabase(`record_${databases++}`),
  open: (url) => openPostgresDatabase({ procedures: testProcedures, url, logger }),
});
