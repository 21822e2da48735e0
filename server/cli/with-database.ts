import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { intervalStartMs } from '../../protocol/interval.ts';
import { procedures, type Store } from '../app/procedures.ts';
import { runtime } from '../platform/runtime.ts';
import { openDirectDatabase } from '../storage/sql/database-direct.ts';
import { openPostgresDatabase } from '../storage/sql/database-postgres.ts';
import { DATABASE_FILE } from '../storage/sql/sqlite.ts';
import type { DatabaseLocation } from './settings.ts';

interface OpenDatabase {
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * Opens the database, runs `work` and closes the database. Servers may run on it at the same time.
 * @param create whether to create a missing database
 * @param work receives the store, and the current time in Unix ms, at the earliest the end of the last
 *   sealed interval (K-6)
 * @throws Error when the database cannot be opened, or is missing and `create` is false
 */
export async function withDatabase<T>(
  { data, database: url }: DatabaseLocation,
  create: boolean,
  work: (store: Store, nowMs: number) => Promise<T>,
): Promise<T> {
  const database = await (url === null ? openSqlite(data, create) : openPostgres(url, create));
  try {
    const watermark = await database.store.readWatermark({});
    return await work(database.store, Math.max(runtime.systemMs(), intervalStartMs(watermark + 1)));
  } finally {
    await database.close();
  }
}

async function openSqlite(data: string, create: boolean): Promise<OpenDatabase> {
  if (!create && !existsSync(join(data, DATABASE_FILE))) {
    throw new Error(`there is no database in ${data}; check --data, or create an account first`);
  }
  return openDirectDatabase(procedures, data).catch((error: Error) => {
    throw new Error(`the database in ${data} (--data) cannot be opened: ${error.message}`);
  });
}

async function openPostgres(url: string, create: boolean): Promise<OpenDatabase> {
  const logger = pino({ enabled: false });
  return openPostgresDatabase({ procedures, url, logger, connections: 1, create }).catch(
    (error: Error) => {
      throw new Error(`--database: ${error.message}`);
    },
  );
}
