import { expect, test } from 'bun:test';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { readRundown } from './read-rundown.ts';
import { rundownProcedures } from './rundown-sql.ts';

const QUIZZES = 250;
const sqlite = await sqliteOfFile();
const OWN = { streamId: 'long', producer: 'a' };
const quiz = { question: '?', choices: ['a', 'b'], answer: 'a', duration: 10_000 };
const drafts = Array.from({ length: QUIZZES }, (_, n) => ({
  id: `quiz ${n}`,
  quiz: { ...quiz, reveal: 'auto' as const },
}));
await insertStream(sqlite, OWN.streamId);
await inTransaction(sqlite, () => rundownProcedures.importQuizzes.run(sqlite, { ...OWN, drafts }));

const idsIn = async () => {
  const { quizzes } = await rundownProcedures.listQuizzes.run(sqlite, OWN);
  return quizzes.map(({ id }) => id);
};

const reverse = async () => {
  const order = (await idsIn()).toReversed();
  const input = { ...OWN, order, revision: null };
  await inTransaction(sqlite, () => rundownProcedures.orderQuizzes.run(sqlite, input));
};

/** @param change runs after each page that is not all */
function read(change: () => Promise<void>) {
  const pages: number[] = [];
  const listQuizzes = async (input: Parameters<typeof rundownProcedures.listQuizzes.run>[1]) => {
    const page = await rundownProcedures.listQuizzes.run(sqlite, input);
    pages.push(page.quizzes.length);
    if (page.quizzes.length < QUIZZES) await change();
    return page;
  };
  const rundown = readRundown(
    { listQuizzes },
    OWN,
    (work) => work(),
    ({ id }) => id,
  );
  return rundown.then(({ quizzes, revision }) => ({ quizzes, revision, pages }));
}

test('[D-1] [D-2] a long rundown is read in pages and is in its order', async () => {
  await reverse();
  const { quizzes, revision, pages } = await read(async () => {});
  expect(pages).toEqual([100, 100, 50]);
  expect(quizzes).toEqual(await idsIn());
  const { revision: current } = await rundownProcedures.listQuizzes.run(sqlite, OWN);
  expect(revision).toBe(current);
});

test('[D-2] a rundown that changes between two pages is read again, at last at once', async () => {
  const { quizzes, pages } = await read(reverse);
  expect(pages.at(-1)).toBe(QUIZZES);
  expect(pages.slice(0, -1)).toEqual([100, 100, 100, 100, 100, 100]);
  expect(quizzes).toEqual(await idsIn());
});
