import { expect, test } from 'bun:test';
import { CrowdStats } from './crowd-stats.ts';
import { CheckRecorder } from './ledger/check-results.ts';
import { Ledger } from './ledger/ledger.ts';

function setUp() {
  const checks = new CheckRecorder();
  const stats = new CrowdStats();
  const ledger = new Ledger(
    checks,
    () => {},
    () => {},
  );
  const presentAt = (
    value: number,
    low: number,
    high: number,
    externalViewers = 2,
    isEvent = true,
  ) => {
    stats.onCount({ count: { value, formatted: `${value}` }, low, high, externalViewers, isEvent });
    return stats.report(ledger, checks, false).externalViewers.present;
  };
  return { presentAt, countTolerance: () => stats.report(ledger, checks, false).countTolerance };
}

test('[O-18] external viewers are the part of a count above the crowd', () => {
  const { presentAt } = setUp();
  expect(presentAt(10, 10, 10)).toBe(0);
  expect(presentAt(11, 10, 10)).toBe(1);
  expect(presentAt(12, 10, 10)).toBe(2);
  expect(presentAt(10, 10, 10)).toBe(0);
});

test('[O-18] the number of external viewers stays while the bounds allow it', () => {
  const { presentAt } = setUp();
  expect(presentAt(11, 10, 11)).toBe(0);
  expect(presentAt(11, 10, 10)).toBe(1);
  expect(presentAt(11, 10, 11)).toBe(1);
  expect(presentAt(11, 11, 11)).toBe(0);
});

test('[O-18] external viewers are at most those with a seat, and only counts of the feed change their number', () => {
  const { presentAt } = setUp();
  expect(presentAt(15, 10, 10, 2)).toBe(2);
  expect(presentAt(9, 10, 10, 2)).toBe(0);
  expect(presentAt(12, 10, 10, 2, false)).toBe(0);
});

test('[O-18] the count tolerance is the mean distance of the bounds plus the external viewers', () => {
  const { presentAt, countTolerance } = setUp();
  presentAt(10, 10, 11, 0);
  presentAt(10, 10, 10, 2);
  expect(countTolerance()).toBe(1.5);
});
