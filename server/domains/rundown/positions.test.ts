import { expect, test } from 'bun:test';
import { insertStream, sqliteBefore } from '../../../test/support/database/sqlite-of-file.ts';
import { rundownOf, rundownStoreOf } from '../../../test/support/quizzes/rundown.ts';
import { migrate } from '../../storage/sql/migrate.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { rundownProcedures } from './rundown-sql.ts';

test('[R-7] [D-1] migrated quizzes are in the rundown in the order of their creation', async () => {
  const sqlite = await sqliteBefore(7);
  await insertStream(sqlite, 's');
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
  await inTransaction(sqlite, () => migrate(sqlite, 'sqlite', 0));
  const own = { streamId: 's', producer: 'a' };
  const { quizzes, revision } = await rundownOf(rundownStoreOf(sqlite), own);
  expect(quizzes.map(({ id, position }) => [id, position])).toEqual([
    ['z', 3],
    ['y', 7],
    ['x', 12],
  ]);
  expect(revision).toBe(0);
  await inTransaction(sqlite, () =>
    rundownProcedures.orderQuizzes.run(sqlite, { ...own, order: ['x', 'z', 'y'], revision }),
  );
  const reordered = await rundownOf(rundownStoreOf(sqlite), own);
  expect(reordered.quizzes.map(({ id }) => id)).toEqual(['x', 'z', 'y']);
});
