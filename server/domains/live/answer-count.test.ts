import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { openShow, uuidOf } from '../../../test/support/streams/show-fixture.ts';
import { Unavailable } from '../../platform/errors.ts';
import { DATABASE_FILE } from '../../storage/sql/sqlite.ts';
import { AnswerCount } from './answer-count.ts';
import type { AnswerPage } from './live-sql.ts';

/** A count whose pages a test answers. */
function fixture() {
  const asked: number[] = [];
  const waiting: PromiseWithResolvers<AnswerPage>[] = [];
  const answerCount = new AnswerCount(({ fromSeat }) => {
    asked.push(fromSeat);
    const page = Promise.withResolvers<AnswerPage>();
    waiting.push(page);
    return page.promise;
  });
  return {
    answerCount,
    asked,
    async answer(counts: number[], nextSeat: number | null) {
      waiting.shift()?.resolve({ counts, nextSeat });
      for (let n = 0; n < 4; n++) await Promise.resolve();
    },
    fail: () => waiting.shift()?.reject(new Unavailable('The database is unavailable.')),
  };
}

const quiz = { number: 1, choices: 2 };
const FIRST = { counts: [1, 0], nextSeat: 10 };

test('[B-1] few answers are counted with the state', async () => {
  const { answerCount, asked } = fixture();
  expect(await answerCount.count(quiz, { counts: [3, 4], nextSeat: null })).toEqual([3, 4]);
  expect(asked).toEqual([]);
});

test('[B-1] many answers to an open quiz are counted page by page, one count at a time', async () => {
  const { answerCount, asked, answer } = fixture();
  const first = answerCount.count(quiz, FIRST);
  const second = answerCount.count(quiz, FIRST);
  await answer([2, 3], 40);
  await answer([1, 1], null);
  expect(asked).toEqual([10, 40]);
  expect([await first, await second]).toEqual([
    [4, 4],
    [4, 4],
  ]);
});

test('[B-1] a state does not wait for the count of many answers', async () => {
  const { answerCount, answer } = fixture();
  const first = answerCount.count(quiz, FIRST);
  await answer([2, 3], 40);
  expect(await first).toEqual([3, 3]);
  await answer([1, 1], null);
  const later = answerCount.count(quiz, FIRST);
  await answer([9, 9], 40);
  expect(await later).toEqual([4, 4]);
});

test('[B-1] the next quiz begins with its own answers, whatever a count of the last one finds', async () => {
  const { answerCount, answer } = fixture();
  const next = { number: 2, choices: 3 };
  const last = answerCount.count(quiz, FIRST);
  const first = answerCount.count(next, { counts: [0, 1, 0], nextSeat: 10 });
  await answer([5, 5], null);
  expect(await first).toEqual([0, 1, 0]);
  await last;
  await answer([1, 0, 0], null);
  const after = answerCount.count(next, { counts: [0, 1, 0], nextSeat: 10 });
  await answer([1, 2, 3], null);
  expect(await after).toEqual([1, 3, 3]);
});

test('[B-4] a count that fails is reported, and the next one begins again without a smaller result', async () => {
  const { answerCount, asked, answer, fail } = fixture();
  const first = answerCount.count(quiz, FIRST);
  await answer([2, 3], 40);
  expect(await first).toEqual([3, 3]);
  fail();
  await Promise.resolve();
  const failed = answerCount.count(quiz, FIRST);
  expect(await failed.catch((error) => error)).toBeInstanceOf(Unavailable);
  const next = answerCount.count(quiz, FIRST);
  await answer([1, 1], 20);
  expect(await next).toEqual([3, 3]);
  expect(asked).toEqual([10, 40, 10, 20]);
});

test('[B-1] a count ends with its show', async () => {
  const { answerCount, asked, answer } = fixture();
  const count = answerCount.count(quiz, FIRST);
  answerCount.stop();
  await answer([2, 3], 40);
  await count;
  expect(await answerCount.count(quiz, FIRST)).toEqual(FIRST.counts);
  expect(asked).toEqual([10]);
});

test('[B-1] a page has as many answers as asked for, by seat', async () => {
  const show = await openShow([uuidOf(1)]);
  const database = new Database(join(show.directory, DATABASE_FILE));
  database.run(
    `insert into answers (quiz, seat, choice, received)
     with recursive seats(seat) as (select 0 union all select seat + 3 from seats where seat < 89_997)
     select 7, seat, seat % 2, 1 from seats union all select 8, 0, 1, 1`,
  );
  database.close();
  const page = (fromSeat: number) =>
    show.store.countAnswers({ number: 7, choices: 3, fromSeat, limit: 20_000 });
  const first = await page(0);
  expect(first).toEqual({ counts: [10_000, 10_000, 0], nextSeat: 59_998 });
  expect(await page(59_998)).toEqual({ counts: [5_000, 5_000, 0], nextSeat: null });
  expect(await page(90_000)).toEqual({ counts: [0, 0, 0], nextSeat: null });
  await show.close();
});
