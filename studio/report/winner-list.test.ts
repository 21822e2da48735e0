import { expect, test } from 'bun:test';
import { type Winner, winnerListOf } from './winner-list.ts';

const roundOf = (id: string, count: number) => ({ id, requested: 0, quizzes: 1, count });
/** Winners of a round by seat; the last seat is the first to report. */
const winnersOf = (roundId: string, count: number): Winner[] =>
  Array.from({ length: count }, (_, seat) => ({
    ...{ roundId, seat, viewer: `viewer ${seat}`, name: null, code: `code ${seat}` },
    at: count - seat,
  }));
const seatsOf = (winners: readonly Winner[]) => winners.map(({ seat }) => seat);

test('[P-28] winners of a round are listed by report time', () => {
  const rows = [...winnersOf('one', 2), ...winnersOf('two', 3)];
  const list = winnerListOf(rows, roundOf('two', 3));
  expect(seatsOf(list.winners)).toEqual([2, 1, 0]);
  expect(list).toMatchObject({ unlistedCount: 0, hasEarliest: true });
});

test('[P-28] the list of a large round has its first 1,000 winners', () => {
  const list = winnerListOf(winnersOf('one', 2_500), roundOf('one', 2_500));
  expect(list.winners[0]?.seat).toBe(2_499);
  expect(list.winners).toHaveLength(1_000);
  expect(list).toMatchObject({ unlistedCount: 1_500, hasEarliest: true });
});

test('[P-28] the list of a round that was not read to its end is incomplete', () => {
  const rows = winnersOf('one', 2_500).slice(0, 2_000);
  expect(winnerListOf(rows, roundOf('one', 2_500))).toMatchObject({
    unlistedCount: 1_500,
    hasEarliest: false,
  });
  expect(winnerListOf(rows, roundOf('two', 3))).toEqual({
    winners: [],
    unlistedCount: 3,
    hasEarliest: false,
  });
});
