import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { intervalStartMs } from '../../protocol/interval.ts';
import { procedures, type TheRecord } from '../app/procedures.ts';
import { openDirectRecord } from '../storage/sql/database-direct.ts';
import { openPostgresRecord } from '../storage/sql/database-postgres.ts';
import { RECORD_FILE } from '../storage/sql/sqlite.ts';
import type { RecordPlace } from './settings.ts';

interface Opened {
  readonly calls: TheRecord;
  close(): Promise<void>;
}

/**
 * Does one piece of work on the record, also while servers run on it.
 * @param create whether a place without a record gets one
 * @param work gets the record, and a time in Unix ms that is not before anything sealed (K-6)
 * @throws Error when the record cannot be opened, or is not there and `create` is false
 */
export async function withRecord<T>(
  { data, database }: RecordPlace,
  create: boolean,
  work: (record: TheRecord, nowMs: number) => Promise<T>,
): Promise<T> {
  const record = await (database === null
    ? openInDirectory(data, create)
    : openInDatabase(database, create));
  try {
    const watermark = await record.calls.readWatermark({});
    return await work(record.calls, Math.max(Date.now(), intervalStartMs(watermark + 1)));
  } finally {
    await record.close();
  }
}

async function openInDirectory(data: string, create: boolean): Promise<Opened> {
  if (!create && !existsSync(join(data, RECORD_FILE))) {
    throw new Error(`${data} holds no record; check --data, or make an account first`);
  }
  return openDirectRecord(procedures, data).catch((error: Error) => {
    throw new Error(`the record in ${data} (--data) cannot be opened: ${error.message}`);
  });
}

async function openInDatabase(url: string, create: boolean): Promise<Opened> {
  const logger = pino({ enabled: false });
  return openPostgresRecord({ procedures, url, logger, connections: 1, create }).catch(
    (error: Error) => {
      throw new Error(`--database: ${error.message}`);
    },
  );
}
