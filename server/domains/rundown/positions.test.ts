import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, migrations } from '../../storage/sql/migrate.ts';
import { inTransaction, openSqlite } from '../../storage/sql/sqlite.ts';
import { rundownProcedures } from './rundown-sql.ts';

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const BEFORE = migrations('sqlite').filter(({ number }) => number < 7);

test('[R-7] [D-1] migrated quizzes are in the rundown in the order of their creation', async () => {
  const sqlite = await openSqlite(directory);
  await inTransaction(sqlite, async () => {
    await sqlite.query(
      'create table migrations (number integer primary key, name text not null, applied bigint not null)',
    );
    for (const { number, name, statements } of BEFORE) {
      for (const statement of statements) await sqlite.query(statement);
      await sqlite.query('insert into migrations values ($1, $2, 0)', [number, name]);
    }
    await sqlite.query("insert into accounts values ('a', 'a@example.org', 'A', 0)");
    await sqlite.query(
      `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created)
       values ('s', 1, 'a', 'A show', 0, 0, 'CREATED', 0)`,
    );
    for (const [id, number] of [
      ['z', 3],
      ['y', 7],
      ['x', 12],
    ] as const) {
      await sqlite.query(
        `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal)
         values ($1, $2, 's', 'draft', '?', '["a","b"]', 0, 1000, 'auto')`,
        [id, number],
      );
    }
  });
  await inTransaction(sqlite, () => migrate(sqlite, 'sqlite', 0));
  const own = { streamId: 's', producer: 'a' };
  const { quizzes, revision } = await rundownProcedures.listQuizzes.run(sqlite, own);
  expect(quizzes.map(({ id, position }) => [id, position])).toEqual([
    ['z', 3],
    ['y', 7],
    ['x', 12],
  ]);
  expect(revision).toBe(0);
  await inTransaction(sqlite, () =>
    rundownProcedures.orderQuizzes.run(sqlite, { ...own, order: ['x', 'z', 'y'], revision }),
  );
  const reordered = await rundownProcedures.listQuizzes.run(sqlite, own);
  expect(reordered.quizzes.map(({ id }) => id)).toEqual(['x', 'z', 'y']);
  sqlite.close();
});
