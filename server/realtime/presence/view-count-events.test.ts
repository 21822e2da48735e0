import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ViewCount } from '../../../protocol/view-counts.ts';
import { countIsDue, formatCount, ViewCountEvents } from './view-count-events.ts';

describe('view-count events', () => {
  test('[F-27] are in one interval a second, those with interval % 4 = 3', () => {
    const due = Array.from({ length: 12 }, (_, n) => n + 100).filter((n) => countIsDue(n, n));
    expect(due).toEqual([103, 107, 111]);
  });

  test('[F-27] are in a sealing that was delayed past such an interval', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(20), (from, length) => {
        const all = Array.from({ length: length + 1 }, (_, n) => from + n);
        expect(countIsDue(from, from + length)).toBe(all.some((n) => n % 4 === 3));
      }),
    );
  });

  test('[F-27] are for streams with viewers, streams that lost their last viewer, and active streams', () => {
    let live: [string, number][] = [['a', 1_234]];
    const events = new ViewCountEvents({ countsAtEndOf: () => live });
    const zero = { value: 0, formatted: '0' };
    expect([...events.take(103, ['b', 'a'])]).toEqual([
      ['a', { value: 1_234, formatted: '1.2K' }],
      ['b', zero],
    ]);
    events.markSealed();
    live = [];
    expect([...events.take(107, [])]).toEqual([['a', zero]]);
    events.markSealed();
    expect([...events.take(111, [])]).toEqual([]);
  });

  test('[F-27] include a stream that fell to 0 while sealing failed in the next sealing', () => {
    let live: [string, number][] = [['a', 1]];
    const events = new ViewCountEvents({ countsAtEndOf: () => live });
    events.take(103, []);
    events.markSealed();
    live = [];
    const zero: [string, ViewCount] = ['a', { value: 0, formatted: '0' }];
    expect([...events.take(107, [])]).toEqual([zero]);
    expect([...events.take(108, [])]).toEqual([zero]);
    events.markSealed();
    expect([...events.take(111, [])]).toEqual([]);
  });
});

test.each([
  [0, '0'],
  [1, '1'],
  [999, '999'],
  [1_000, '1K'],
  [1_049, '1K'],
  [1_050, '1.1K'],
  [1_200, '1.2K'],
  [1_234, '1.2K'],
  [1_249, '1.2K'],
  [1_950, '2K'],
  [9_999, '10K'],
  [10_049, '10K'],
  [12_345, '12.3K'],
  [123_456, '123.5K'],
  [999_900, '999.9K'],
  [999_949, '999.9K'],
  [999_950, '1M'],
  [999_999, '1M'],
  [1_000_000, '1M'],
  [3_400_000, '3.4M'],
  [16_777_216, '16.8M'],
  [999_949_999, '999.9M'],
  [999_950_000, '1B'],
  [1_000_000_000, '1B'],
])('[V-7] %d is formatted as %s', (value, shown) => {
  expect(formatCount(value)).toBe(shown);
});

const UNITS = { '': 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12 };

test('[V-7] a formatted count is rounded to its last digit', () => {
  const magnitudes = fc
    .integer({ min: 1, max: 14 })
    .chain((digits) => fc.nat({ max: 10 ** digits }));
  fc.assert(
    fc.property(fc.oneof(magnitudes, fc.nat()), (value) => {
      const [, number, suffix] = /^(\d{1,3}(?:\.[1-9])?)([KMBT]?)$/.exec(formatCount(value)) ?? [];
      const unit = UNITS[suffix as keyof typeof UNITS];
      const precision = unit === 1 ? 0 : unit / 20;
      expect(Math.abs(Number(number) * unit - value)).toBeLessThanOrEqual(precision * (1 + 1e-9));
    }),
    { numRuns: 1_000 },
  );
});

test('[V-7] a larger count is never formatted as a smaller one', () => {
  const shownValue = (value: number) => {
    const shown = formatCount(value);
    return (
      Number.parseFloat(shown) * UNITS[(shown.at(-1) ?? '').replace(/\d/, '') as keyof typeof UNITS]
    );
  };
  fc.assert(
    fc.property(fc.nat({ max: 10_000_000 }), fc.nat({ max: 100_000 }), (value, more) => {
      expect(shownValue(value + more)).toBeGreaterThanOrEqual(shownValue(value));
    }),
    { numRuns: 1_000 },
  );
});
