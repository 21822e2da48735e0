import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { percentages } from './percentages.ts';

test.each<{ counts: number[]; shares: number[] }>([
  { counts: [], shares: [] },
  { counts: [0], shares: [0] },
  { counts: [0, 0, 0], shares: [0, 0, 0] },
  { counts: [1], shares: [100] },
  { counts: [0, 7], shares: [0, 100] },
  { counts: [1, 1], shares: [50, 50] },
  { counts: [1, 1, 1], shares: [34, 33, 33] },
  { counts: [1, 1, 1, 1, 1, 1], shares: [17, 17, 17, 17, 16, 16] },
  { counts: [1, 2, 3], shares: [17, 33, 50] },
  { counts: [1, 999], shares: [0, 100] },
  { counts: [1, 199], shares: [1, 99] },
  { counts: [199, 1], shares: [100, 0] },
  { counts: [2, 3, 2], shares: [29, 43, 28] },
])('[Q-21] counts of $counts are $shares percent', ({ counts, shares }) => {
  expect(percentages(counts)).toEqual(shares);
});

const count = fc.oneof(
  fc.nat({ max: 5 }),
  fc.nat(),
  fc.maxSafeNat(),
  fc.integer({ min: 2 ** 53 - 20, max: 2 ** 53 - 1 }),
  fc.integer({ min: Math.floor(2 ** 53 / 100) - 20, max: Math.ceil(2 ** 53 / 100) + 20 }),
);
const manyCounts = fc.array(count, { minLength: 1, maxLength: 10 });
const totalOf = (counts: number[]) => counts.reduce((sum, each) => sum + BigInt(each), 0n);

describe('[Q-21] percentages', () => {
  test('quiz percentages add up to 100, or are all 0 without answers', () => {
    fc.assert(
      fc.property(manyCounts, (counts) => {
        const shares = percentages(counts);
        expect(shares.every(Number.isInteger)).toBe(true);
        const sum = shares.reduce((all, share) => all + share, 0);
        expect(sum).toBe(totalOf(counts) === 0n ? 0 : 100);
      }),
    );
  });

  test('quiz percentages are each less than 1 off the exact share', () => {
    fc.assert(
      fc.property(manyCounts, (counts) => {
        const total = totalOf(counts);
        percentages(counts).forEach((share, index) => {
          const offTimesTotal = BigInt(share) * total - 100n * BigInt(counts[index] as number);
          expect(offTimesTotal < total || total === 0n).toBe(true);
          expect(-offTimesTotal < total || total === 0n).toBe(true);
        });
      }),
    );
  });

  test('quiz percentages are never smaller for a larger count, nor for the earlier of two equal counts', () => {
    fc.assert(
      fc.property(manyCounts, (counts) => {
        const shares = percentages(counts);
        for (const [later, laterCount] of counts.entries()) {
          for (const [earlier, earlierCount] of counts.slice(0, later).entries()) {
            const [earlierShare, laterShare] = [shares[earlier] as number, shares[later] as number];
            if (earlierCount >= laterCount) expect(earlierShare).toBeGreaterThanOrEqual(laterShare);
            else expect(laterShare).toBeGreaterThanOrEqual(earlierShare);
          }
        }
      }),
    );
  });

  test('quiz percentages distinguish remainders that a double cannot', () => {
    // Of 2^53 - 1 the last count is just above a third and the others just below, so it gets the extra point.
    const third = (2 ** 53 - 2) / 3;
    expect(percentages([third, third, third + 1])).toEqual([33, 33, 34]);
    expect(percentages([third, third + 1, third])).toEqual([33, 34, 33]);
  });
});
