import { expect, test } from 'bun:test';
import { createLogger } from '../../platform/logging.ts';
import { databaseOn } from './database-postgres.ts';
import type { PostgresSession } from './postgres.ts';
import { PostgresPool } from './postgres-pool.ts';
import { writeProcedure } from './procedure.ts';

const DISK_FULL = Object.assign(new Error('could not extend file'), { code: '53100' });

/** A session with a server whose disk is full. */
const session = {
  query: () => Promise.reject(DISK_FULL),
  run: async (statements: string) => statements,
  failure: () => null,
  pendingSinceMs: () => null,
  end: async () => {},
  drop: () => {},
} as unknown as PostgresSession;

test('[O-13] calls that fail on a full disk are logged as one line a second for each call name, with their count', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const write = writeProcedure((tx) => tx.query('insert into notes (number) values (1)'));
  const pool = new PostgresPool('postgres://none', logger, 3, async () => session);
  await pool.open();
  const { store, close } = databaseOn(pool, { write, other: write });
  const fail = (name: 'write' | 'other', count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => store[name](undefined as never)));
  try {
    await fail('write', 50);
    await fail('other', 1);
    await Bun.sleep(1_010);
    await fail('write', 1);
  } finally {
    await close();
  }
  const failed = { level: 'error', msg: 'a call failed', err: { code: '53100' } };
  expect(lines).toMatchObject([
    { ...failed, call: 'write', count: 1 },
    { ...failed, call: 'other', count: 1 },
    { ...failed, call: 'write', count: 50 },
  ]);
});
