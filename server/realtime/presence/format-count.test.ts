import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatCount } from './view-count-events.ts';

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
])('[V-7] %d is shown as %s', (value, shown) => {
  expect(formatCount(value)).toBe(shown);
});

const UNITS = { '': 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12 };

test('[V-7] is within half of its last digit of the count', () => {
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

test('[V-7] never shows a larger count as a smaller one', () => {
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
