import { expect, test } from 'bun:test';
import { CrowdStats } from './crowd-stats.ts';
import { CheckRecorder } from './ledger/check-results.ts';
import { Ledger } from './ledger/ledger.ts';

function setUp() {
  const book = new CheckRecorder();
  const stats = new CrowdStats();
  const ledger = new Ledger(
    book,
    () => {},
    () => {},
  );
  const counted = (
    value: number,
    low: number,
    high: number,
    externalViewers = 2,
    isEvent = true,
  ) => {
    stats.onCount({ count: { value, formatted: `${value}` }, low, high, externalViewers, isEvent });
    return stats.report(ledger, book, false).externalViewers.present;
  };
  return { counted, countTolerance: () => stats.report(ledger, book, false).countTolerance };
}

test('[O-18] external viewers are the part of a count above the crowd', () => {
  const { counted } = setUp();
  expect(counted(10, 10, 10)).toBe(0);
  expect(counted(11, 10, 10)).toBe(1);
  expect(counted(12, 10, 10)).toBe(2);
  expect(counted(10, 10, 10)).toBe(0);
});

test('[O-18] the number of external viewers stays while the bounds allow it', () => {
  const { counted } = setUp();
  expect(counted(11, 10, 11)).toBe(0);
  expect(counted(11, 10, 10)).toBe(1);
  expect(counted(11, 10, 11)).toBe(1);
  expect(counted(11, 11, 11)).toBe(0);
});

test('[O-18] external viewers need a seat, and counts read by viewers do not change their number', () => {
  const { counted } = setUp();
  expect(counted(15, 10, 10, 2)).toBe(2);
  expect(counted(9, 10, 10, 2)).toBe(0);
  expect(counted(12, 10, 10, 2, false)).toBe(0);
});

test('[O-18] the count tolerance is the mean distance of the bounds plus the external viewers', () => {
  const { counted, countTolerance } = setUp();
  counted(10, 10, 11, 0);
  counted(10, 10, 10, 2);
  expect(countTolerance()).toBe(1.5);
});
