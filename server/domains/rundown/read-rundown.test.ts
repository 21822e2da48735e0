import { expect, test } from 'bun:test';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { rundownStoreOf } from '../../../test/support/quizzes/rundown.ts';
import { Unavailable } from '../../platform/errors.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { quizProcedures } from '../quizzes/quizzes-sql.ts';
import { readRundown } from './read-rundown.ts';
import { rundownProcedures } from './rundown-sql.ts';

const QUIZZES = 250;
const sqlite = await sqliteOfFile();
const OWN = { streamId: 'long', producer: 'a' };
const quiz = { question: '?', choices: ['a', 'b'], answer: 'a', duration: 10_000 };
const draftsOf = (ids: readonly string[]) =>
  ids.map((id) => ({ id, quiz: { ...quiz, reveal: 'auto' as const } }));
await insertStream(sqlite, OWN.streamId);

const importDrafts = (ids: readonly string[]) =>
  inTransaction(sqlite, () =>
    rundownProcedures.importQuizzes.run(sqlite, { ...OWN, drafts: draftsOf(ids) }),
  );
await importDrafts(Array.from({ length: QUIZZES }, (_, n) => `quiz ${n}`));

/** Every quiz as it is now, in order. */
const textsNow = async () => {
  const rows = await sqlite.query<{ id: string; question: string }>(
    'select id, question from quizzes order by position, number',
  );
  return rows.map(({ id, question }) => `${id}: ${question}`);
};
const revisionNow = async () =>
  (await rundownProcedures.readRundownOrder.run(sqlite, OWN)).revision;

const reverse = async () => {
  const { order } = await rundownProcedures.readRundownOrder.run(sqlite, OWN);
  const input = { ...OWN, order: order.map(({ id }) => id).toReversed(), revision: null };
  await inTransaction(sqlite, () => rundownProcedures.orderQuizzes.run(sqlite, input));
};
const patch = (id: string, question: string) =>
  inTransaction(sqlite, () =>
    quizProcedures.patchQuiz.run(sqlite, { id, producer: 'a', patch: { question } }),
  );
const remove = (id: string) =>
  inTransaction(sqlite, () => quizProcedures.deleteQuiz.run(sqlite, { id, producer: 'a' }));

/** @param change runs before each page is read */
function read(change: (page: number, ids: readonly string[]) => Promise<unknown>) {
  const pages: number[] = [];
  const store = rundownStoreOf(sqlite);
  const listQuizzes: typeof store.listQuizzes = async (input) => {
    await change(pages.push(input.ids.length), input.ids);
    return store.listQuizzes(input);
  };
  const rundown = readRundown(
    { ...store, listQuizzes },
    OWN,
    (work) => work(),
    ({ id, question }) => `${id}: ${question}`,
  );
  return rundown.then(({ quizzes, revision }) => ({ quizzes, revision, pages }));
}

test('[D-1] [D-2] a long rundown is read in pages and is in its order', async () => {
  await reverse();
  const { quizzes, revision, pages } = await read(async () => {});
  expect(pages).toEqual([50, 50, 50, 50, 50]);
  expect(quizzes).toEqual(await textsNow());
  expect(revision).toBe(await revisionNow());
});

test('[D-2] a rundown that is ordered before each page is read once', async () => {
  const { quizzes, revision, pages } = await read(reverse);
  expect(pages).toEqual([50, 50, 50, 50, 50]);
  expect(quizzes).toEqual(await textsNow());
  expect(revision).toBe(await revisionNow());
});

test('[D-2] of a rundown that changes while it is read, what changed is read again', async () => {
  const { order } = await rundownProcedures.readRundownOrder.run(sqlite, OWN);
  const [first = '', second = '', third = ''] = order.map(({ id }) => id);
  const changes = [
    () => remove(third),
    () => patch(first, 'Which?'),
    () => importDrafts(['new 1', 'new 2']),
    () => patch(second, 'Who?'),
  ];
  const { quizzes, revision, pages } = await read(async (page) => changes[page - 1]?.());
  expect(pages).toEqual([50, 50, 50, 50, 50, 4]);
  expect(quizzes).toEqual(await textsNow());
  expect(revision).toBe(await revisionNow());
});

test('[D-2] a rundown that changes in each of ten reads fails, and is never read at once', async () => {
  const { order } = await rundownProcedures.readRundownOrder.run(sqlite, OWN);
  let pages = 0;
  // While one of the first quizzes is read again, the other one changes.
  const [first = '', second = ''] = order.map(({ id }) => id);
  const reading = read(async (page, ids) => {
    pages = page;
    await patch(ids.includes(first) ? second : first, `Which, ${page}?`);
  });
  expect(await reading.catch((error) => error)).toBeInstanceOf(Unavailable);
  expect(pages).toBe(6 + 9);
});
