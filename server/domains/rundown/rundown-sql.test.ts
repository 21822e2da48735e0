import { expect, test } from 'bun:test';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { rundownOf, rundownStoreOf } from '../../../test/support/quizzes/rundown.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { rundownProcedures } from './rundown-sql.ts';

const sqlite = await sqliteOfFile();
const OWN = { streamId: 'full', producer: 'a' };
const LONG_QUESTION = '?'.repeat(500);

const draftsOf = (ids: readonly string[]) =>
  ids.map((id) => ({
    id,
    quiz: {
      question: LONG_QUESTION,
      choices: ['a', 'b'],
      answer: 'a',
      duration: 10_000,
      reveal: 'auto' as const,
    },
  }));

/** A transaction that counts the questions which it reads. */
function countingTx(): { tx: Tx; questions: () => number } {
  let count = 0;
  const tx: Tx = {
    rows: sqlite.rows,
    locks: sqlite.locks,
    monotonicMs: sqlite.monotonicMs,
    timeline: sqlite.timeline,
    insertNew: (table, rows) => sqlite.insertNew(table, rows),
    query: async (text, params) => {
      const rows = await sqlite.query(text, params);
      count += JSON.stringify(rows).split(LONG_QUESTION).length - 1;
      return rows as never;
    },
  };
  return { tx, questions: () => count };
}

test('[D-3] [D-6] an order reads no quiz in its write transaction, and an import only its own', async () => {
  const ids = Array.from({ length: 50 }, (_, n) => `draft ${n}`);
  await insertStream(sqlite, OWN.streamId, 0);
  await rundownProcedures.importQuizzes.run(sqlite, { ...OWN, drafts: draftsOf(ids) });
  const { tx, questions } = countingTx();
  const order = { ...OWN, order: ids.toReversed(), revision: null };
  await rundownProcedures.orderQuizzes.run(tx, order);
  expect(questions()).toBe(0);
  const drafts = draftsOf(['last', 'after it']);
  const imported = await rundownProcedures.importQuizzes.run(tx, { ...OWN, drafts });
  expect(imported.map(({ id }) => id)).toEqual(['last', 'after it']);
  expect(questions()).toBe(2);
  const { quizzes } = await rundownOf(rundownStoreOf(sqlite), OWN);
  expect(quizzes.map(({ id }) => id)).toEqual([...ids.toReversed(), 'last', 'after it']);
});

test('[L-22] the drafts of a stream have the bytes of their texts, in order', async () => {
  const own = { streamId: 'measured', producer: 'a' };
  await insertStream(sqlite, own.streamId, 1);
  const quizzes = [['?', ['a', 'b']] as const, ['é'.repeat(500), ['€', '"']] as const];
  const drafts = quizzes.map(([question, choices], index) => ({
    id: `measured ${index}`,
    quiz: {
      question,
      choices: [...choices],
      answer: choices[0],
      duration: 10_000,
      reveal: 'auto' as const,
    },
  }));
  await rundownProcedures.importQuizzes.run(sqlite, { ...own, drafts });
  const listed = await rundownProcedures.listDrafts.run(sqlite, own);
  expect(listed.map(({ id, bytes }) => [id, bytes])).toEqual([
    ['measured 0', 1 + '["a","b"]'.length],
    ['measured 1', 1_000 + Buffer.byteLength(JSON.stringify(['€', '"']))],
  ]);
  // Those of the drafts that move.
  const all = listed.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const [order, moved] of [
    [['measured 0', 'measured 1'], 0],
    [['measured 1', 'measured 0'], all],
  ] as const) {
    const input = { ...own, order: [...order], revision: null };
    expect(await rundownProcedures.orderQuizzes.run(sqlite, input)).toBe(moved);
  }
});
