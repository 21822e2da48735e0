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
  const counted = (value: number, low: number, high: number, outsiders = 2, isEvent = true) => {
    stats.onCount({ count: { value, formatted: `${value}` }, low, high, outsiders, isEvent });
    return stats.report(ledger, book, false).outsiders.present;
  };
  return { counted, slack: () => stats.report(ledger, book, false).slack };
}

test('[O-18] outsiders are the part of a count above the crowd', () => {
  const { counted } = setUp();
  expect(counted(10, 10, 10)).toBe(0);
  expect(counted(11, 10, 10)).toBe(1);
  expect(counted(12, 10, 10)).toBe(2);
  expect(counted(10, 10, 10)).toBe(0);
});

test('[O-18] the number of outsiders stays while the bounds allow it', () => {
  const { counted } = setUp();
  expect(counted(11, 10, 11)).toBe(0);
  expect(counted(11, 10, 10)).toBe(1);
  expect(counted(11, 10, 11)).toBe(1);
  expect(counted(11, 11, 11)).toBe(0);
});

test('[O-18] outsiders need a seat, and counts read by viewers do not change their number', () => {
  const { counted } = setUp();
  expect(counted(15, 10, 10, 2)).toBe(2);
  expect(counted(9, 10, 10, 2)).toBe(0);
  expect(counted(12, 10, 10, 2, false)).toBe(0);
});

test('[O-18] counts are known to the crowd’s own doubts and to the outsiders', () => {
  const { counted, slack } = setUp();
  counted(10, 10, 11, 0);
  counted(10, 10, 10, 2);
  expect(slack()).toBe(1.5);
});
