import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { procedures } from '../../server/app/procedures.ts';
import { openPostgresDatabase } from '../../server/storage/sql/database-postgres.ts';
import {
  IDLE_IN_TRANSACTION_TIMEOUT_MS,
  LOCK_TIMEOUT_MS,
  openSession,
  type PostgresSession,
} from '../../server/storage/sql/postgres.ts';
import { startPostgres } from '../support/backends/postgres.ts';

import { openModelInRealTime } from '../support/simulation/postgres/model-in-real-time.ts';
import { until } from '../support/until.ts';

// What the service relies on of PostgreSQL. The model of the simulation passes the same tests. It may
// end a transaction in a conflict (40001) where the server makes it wait.

const postgres = await startPostgres({ fsync: false });
const url = await postgres.createDatabase('sessions');
const database = {
  procedures,
  url,
  logger: pino({ enabled: false }),
  connections: 1,
  create: true,
};
await (await openPostgresDatabase(database)).close();
const model = await openModelInRealTime(mkdtempSync(join(tmpdir(), 'fourbeat-model-')));
afterAll(async () => {
  model.close();
  await postgres.stop();
});

const BACKENDS = [
  { name: 'PostgreSQL', open: () => openSession({ url, connectTimeoutMs: 2_000 }) },
  { name: 'the model of PostgreSQL', open: () => model.open() },
];
const WRITE = 'begin isolation level read committed';
const READ = 'begin isolation level repeatable read read only';
const ADD = 'update counters set value = value + 1 where name = $1';
/** The server gives up: deadlock, lock timeout, serialization. */
const CONFLICTS = ['40P01', '55P03', '40001'];
/** A message takes less, also on a busy machine. */
const SLACK_MS = 400;

const codeOf = (error: unknown) => (error as { code?: string }).code ?? '';

describe.each(BACKENDS)('sessions with $name', ({ open }) => {
  const sessions: PostgresSession[] = [];
  let one: PostgresSession;
  let two: PostgresSession;
  let three: PostgresSession;

  beforeEach(async () => {
    for (const session of sessions.splice(0)) session.drop('the test is over');
    for (let count = 0; count < 3; count++) sessions.push(await open());
    [one, two, three] = sessions as [PostgresSession, PostgresSession, PostgresSession];
    await inTransaction(three, async () => {
      await three.query(`delete from counters where name in ('a', 'b')`);
      await three.query(`insert into counters (name, value) values ('a', 0), ('b', 0)`);
    });
  });
  afterAll(() => {
    for (const session of sessions) session.drop('the tests are over');
  });

  async function inTransaction(session: PostgresSession, work: () => Promise<unknown>) {
    await session.run(WRITE);
    await work();
    expect(await session.run('commit')).toBe('COMMIT');
  }

  /** Runs work in a transaction. @returns whether it was committed */
  async function tryTransaction(
    session: PostgresSession,
    work: () => Promise<unknown>,
  ): Promise<boolean> {
    try {
      await session.run(WRITE);
      await work();
      return (await session.run('commit')) === 'COMMIT';
    } catch (error) {
      expect(CONFLICTS).toContain(codeOf(error));
      await session.run('rollback');
      return false;
    }
  }

  async function readValue(session: PostgresSession, name = 'a'): Promise<number> {
    const text = 'select value from counters where name = $1';
    return Number((await session.query<{ value: number }>(text, [name]))[0]?.value);
  }

  async function committedValue(name = 'a'): Promise<number> {
    await three.run(READ);
    const value = await readValue(three, name);
    await three.run('rollback');
    return value;
  }

  test('[N-19] a transaction sees its own changes, and others see them after its commit', async () => {
    await one.run(WRITE);
    await one.query(ADD, ['a']);
    expect([await readValue(one), await committedValue()]).toEqual([1, 0]);
    expect(await one.run('commit')).toBe('COMMIT');
    expect(await committedValue()).toBe(1);
    await one.run(WRITE);
    await one.query(ADD, ['a']);
    await one.run('rollback');
    expect(await committedValue()).toBe(1);
  });

  test('[N-19] a transaction that reads has one snapshot, and one that writes sees each commit', async () => {
    await one.run(READ);
    await two.run(WRITE);
    expect([await readValue(one), await readValue(two)]).toEqual([0, 0]);
    await inTransaction(three, () => three.query(ADD, ['a']));
    expect([await readValue(one), await readValue(two)]).toEqual([0, 1]);
    await one.run('rollback');
    await two.run('rollback');
  });

  test('[N-19] of concurrent changes of a row none is lost', async () => {
    let commits = 0;
    const change = async (session: PostgresSession) => {
      for (let round = 0; round < 20; round++) {
        const done = await tryTransaction(session, async () => {
          const text = `select value from counters where name = 'a' ${session.locks.update}`;
          const [row] = await session.query<{ value: number }>(text);
          const value = Number(row?.value) + 1;
          await session.query(`update counters set value = $1 where name = 'a'`, [value]);
        });
        if (done) commits++;
      }
    };
    await Promise.all([one, two].map(change));
    expect(commits).toBeGreaterThan(10);
    expect(await committedValue()).toBe(commits);
  });

  test('[N-19] of transactions that wait for each other none is committed in part', async () => {
    await one.run(WRITE);
    await two.run(WRITE);
    await one.query(ADD, ['a']);
    const finish = async (session: PostgresSession, name: string) => {
      try {
        await session.query(ADD, [name]);
        return (await session.run('commit')) === 'COMMIT';
      } catch (error) {
        expect(CONFLICTS).toContain(codeOf(error));
        await session.run('rollback');
        return false;
      }
    };
    await two.query(ADD, ['b']);
    const outcomes = await Promise.all([finish(one, 'b'), finish(two, 'a')]);
    const commits = outcomes.filter(Boolean).length;
    expect([await committedValue('a'), await committedValue('b')]).toEqual([commits, commits]);
  });

  test('[N-4] [N-21] a claim does not wait for a row that is locked, and one of two claims is committed', async () => {
    const claim = async (session: PostgresSession) => {
      const { affected } = await session.query(
        `update counters set value = value + 1 where name =
         (select name from counters where name = 'a' and value = 0 ${session.locks.claim})`,
      );
      return affected;
    };
    await one.run(WRITE);
    expect(await claim(one)).toBe(1);
    const startMs = performance.now();
    const claimed = await tryTransaction(two, async () => {
      if ((await claim(two)) === 0)
        throw Object.assign(new Error('not claimed'), { code: '40001' });
    });
    expect(performance.now() - startMs).toBeLessThan(SLACK_MS);
    const outcome = await one.run('commit').catch((error) => codeOf(error));
    expect([claimed ? '40001' : 'COMMIT']).toContain(outcome);
    expect(await committedValue()).toBe(1);
  });

  test('[N-21] a statement waits for a locked row at most as long as its lock timeout', async () => {
    await one.run(WRITE);
    await one.query(ADD, ['a']);
    const startMs = performance.now();
    const isChanged = await tryTransaction(two, () => two.query(ADD, ['a']));
    expect(performance.now() - startMs).toBeLessThan(LOCK_TIMEOUT_MS + SLACK_MS);
    const outcome = await one.run('commit').catch((error) => codeOf(error));
    expect(['COMMIT', '40001']).toContain(outcome);
    expect(await committedValue()).toBe(Number(isChanged) + Number(outcome === 'COMMIT'));
  });

  test('[N-19] a statement that fails fails its transaction, with the code of the constraint', async () => {
    const failures = [
      { text: `insert into counters (name, value) values ('a', 1)`, code: '23505' },
      {
        text: `insert into seats (stream_id, viewer, seat) values ('none', 'v', 1)`,
        code: '23503',
      },
    ];
    for (const { text, code } of failures) {
      await one.run(WRITE);
      await one.query(ADD, ['a']);
      expect(codeOf(await one.query(text).catch((error) => error))).toBe(code);
      expect(codeOf(await one.query(ADD, ['a']).catch((error) => error))).toBe('25P02');
      expect(await one.run('commit')).toBe('ROLLBACK');
    }
    expect(await committedValue()).toBe(0);
  });

  test('[N-19] a connection that ends takes its transaction back, and frees its rows', async () => {
    await one.run(WRITE);
    await one.query(ADD, ['a']);
    one.drop('cut');
    expect(one.failure()).toBe('cut');
    await until('the row is free', () => tryTransaction(two, () => two.query(ADD, ['a'])));
    expect(await committedValue()).toBe(1);
  });

  test('[N-21] the server ends a transaction that does nothing, with its connection', async () => {
    await one.run(WRITE);
    await one.query(ADD, ['a']);
    const startMs = performance.now();
    await until('the session has ended', () => one.failure() !== null);
    expect(performance.now() - startMs).toBeGreaterThan(IDLE_IN_TRANSACTION_TIMEOUT_MS - SLACK_MS);
    await inTransaction(two, () => two.query(ADD, ['a']));
    expect(await committedValue()).toBe(1);
  });
});
