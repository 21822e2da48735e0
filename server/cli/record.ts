import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { intervalStartMs } from '../../protocol/interval.ts';
import { procedures, type Store } from '../app/procedures.ts';
import { openDirectDatabase } from '../storage/sql/database-direct.ts';
import { openPostgresDatabase } from '../storage/sql/database-postgres.ts';
import { RECORD_FILE } from '../storage/sql/sqlite.ts';
import type { DatabaseLocation } from './settings.ts';

interface Opened {
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * Does one piece of work on the database, also while servers run on it.
 * @param create whether a place without a record gets one
 * @param work gets the database, and a time in Unix ms that is not before anything sealed (K-6)
 * @throws Error when the database cannot be opened, or is not there and `create` is false
 */
export async function withDatabase<T>(
  { data, database: url }: DatabaseLocation,
  create: boolean,
  work: (store: Store, nowMs: number) => Promise<T>,
): Promise<T> {
  const database = await (url === null
    ? openInDirectory(data, create)
    : openInDatabase(url, create));
  try {
    const watermark = await database.store.readWatermark({});
    return await work(database.store, Math.max(Date.now(), intervalStartMs(watermark + 1)));
  } finally {
    await database.close();
  }
}

async function openInDirectory(data: string, create: boolean): Promise<Opened> {
  if (!create && !existsSync(join(data, RECORD_FILE))) {
    throw new Error(`${data} holds no record; check --data, or make an account first`);
  }
  return openDirectDatabase(procedures, data).catch((error: Error) => {
    throw new Error(`the database in ${data} (--data) cannot be opened: ${error.message}`);
  });
}

async function openInDatabase(url: string, create: boolean): Promise<Opened> {
  const logger = pino({ enabled: false });
  return openPostgresDatabase({ procedures, url, logger, connections: 1, create }).catch(
    (error: Error) => {
      throw new Error(`--database: ${error.message}`);
    },
  );
}
