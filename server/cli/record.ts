import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { intervalStartMs } from '../../protocol/interval.ts';
import { procedures, type TheRecord } from '../procedures.ts';
import { openDirectRecord } from '../sql/record-direct.ts';
import { RECORD_FILE } from '../sql/sqlite.ts';

/**
 * Does one piece of work on the record of a data directory, also while a server runs on it.
 * @param work gets the record, and a time in Unix ms that is not before anything sealed (K-6)
 * @throws Error when there is no record and `create` is false
 */
export async function withRecord<T>(
  { data, create }: { data: string; create: boolean },
  work: (record: TheRecord, nowMs: number) => Promise<T>,
): Promise<T> {
  if (!create && !existsSync(join(data, RECORD_FILE))) {
    throw new Error(`${data} holds no record; check --data, or make an account first`);
  }
  const record = await openDirectRecord(procedures, data).catch((error: Error) => {
    throw new Error(`the record in ${data} (--data) cannot be opened: ${error.message}`);
  });
  try {
    const watermark = await record.calls.readWatermark({});
    return await work(record.calls, Math.max(Date.now(), intervalStartMs(watermark + 1)));
  } finally {
    await record.close();
  }
}
