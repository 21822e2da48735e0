import { expect, test } from 'bun:test';
import { until } from '../../../test/support/until.ts';
import { createLogger } from '../../platform/logging.ts';
import { databaseOn } from './database-postgres.ts';
import type { PostgresSession } from './postgres.ts';
import { PostgresPool } from './postgres-pool.ts';
import { readProcedure, type Tx, writeProcedure } from './procedure.ts';

const DISK_FULL = Object.assign(new Error('could not extend file'), { code: '53100' });

/** A session with a server that fails every statement with this error. */
function failingSession(error: Error): PostgresSession {
  return {
    query: () => Promise.reject(error),
    run: async (statements: string) => statements,
    failure: () => null,
    pendingSinceMs: () => null,
    end: async () => {},
    drop: () => {},
  } as unknown as PostgresSession;
}

test('[O-13] calls that fail on a full disk are logged as one line a second for each call name, with their count', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const write = writeProcedure((tx) => tx.query('insert into notes (number) values (1)'));
  const pool = new PostgresPool('postgres://none', logger, 3, async () =>
    failingSession(DISK_FULL),
  );
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

test('[N-10] a read that writes, a defect of the program, does not make the server unavailable', async () => {
  const error = Object.assign(new Error('read-only transaction'), { code: '25006' });
  const logger = createLogger('error', { write: () => {} });
  const run = (tx: Tx) => tx.query('update notes set number = 1');
  const pool = new PostgresPool('postgres://none', logger, 3, async () => failingSession(error));
  await pool.open();
  const { store, close } = databaseOn(pool, {
    read: readProcedure(run),
    write: writeProcedure(run),
  });
  try {
    await Promise.allSettled([store.read(undefined as never)]);
    expect(pool.unavailableReason()).toBeNull();
    await Promise.allSettled([store.write(undefined as never)]);
    expect(pool.unavailableReason()).toBe('the server is read-only');
  } finally {
    await close();
  }
});

test('[F-16] a sealing during an outage fails at once, and does not run when the server is back', async () => {
  const logger = createLogger('error', { write: () => {} });
  let isUnavailable = false;
  let sealings = 0;
  const pool = new PostgresPool('postgres://none', logger, 3, async () => {
    if (isUnavailable) throw new Error('connection refused');
    const session = failingSession(new Error('connection lost'));
    const run = async (statement: string) => statement.toUpperCase();
    return { ...session, run, failure: () => (isUnavailable ? 'connection lost' : null) };
  });
  await pool.open();
  const seal = async () => void sealings++;
  const { store, close } = databaseOn(pool, { seal: writeProcedure(seal, { noDeadline: true }) });
  try {
    await store.seal(undefined as never);
    isUnavailable = true;
    // The first finds the outage, the second is refused because of it.
    for (let n = 0; n < 2; n++) {
      await expect(store.seal(undefined as never)).rejects.toThrow('The database is unavailable.');
    }
    isUnavailable = false;
    await until('the server is back', () => pool.unavailableReason() === null);
    await store.seal(undefined as never);
    expect(sealings).toBe(2);
  } finally {
    await close();
  }
});
