import { describe, expect, test } from 'bun:test';
import type { RoundWinner } from '../../protocol/winners.ts';
import { pageOf, repeatedNames } from './winner-pages.ts';

const winnersOf = (count: number): RoundWinner[] =>
  Array.from({ length: count }, (_, index) => ({ code: `code ${index}`, name: null }));
const pagesOf = (winners: readonly RoundWinner[], turns: number) =>
  Array.from({ length: turns }, (_, turn) => pageOf(winners, turn));

describe('pageOf', () => {
  test('[B-14] has all winners on one page when they fit', () => {
    const winners = winnersOf(18);
    expect(pagesOf(winners, 2)).toEqual([
      { number: 0, winners },
      { number: 0, winners },
    ]);
    expect(pageOf([], 3)).toEqual({ number: 0, winners: [] });
  });

  test('[B-14] shows every winner once, on pages of about the same length, then begins again', () => {
    const winners = winnersOf(100);
    const pages = pagesOf(winners, 6);
    expect(pages.flatMap((page) => page.winners)).toEqual(winners);
    expect(pages.map((page) => page.winners.length)).toEqual([17, 17, 16, 17, 17, 16]);
    expect(pageOf(winners, 6)).toEqual(pageOf(winners, 0));
    expect(pagesOf(winnersOf(19), 2).map((page) => page.winners.length)).toEqual([10, 9]);
  });
});

test('[W-13] repeatedNames finds names of several winners', () => {
  const names = ['Ada', 'Bob', 'Ada', null, null];
  const winners = names.map((name, index) => ({ code: `code ${index}`, name }));
  expect([...repeatedNames(winners)]).toEqual(['Ada']);
});
