import { expect, test } from 'bun:test';
import { findLargest } from './find-largest.ts';

const RANGE = { min: 0, max: 19_500, step: 500 };

test('findLargest finds the largest size that works, within one step, in seven attempts', async () => {
  for (const limit of [700, 5_000, 12_345, 19_400]) {
    let tries = 0;
    const largest = await findLargest(RANGE, async (size) => {
      tries += 1;
      return size <= limit;
    });
    expect(largest).toBeLessThanOrEqual(limit);
    expect(limit - largest).toBeLessThan(RANGE.step);
    expect(tries).toBeLessThanOrEqual(7);
  }
});

test('findLargest tries only the maximum when it works', async () => {
  const tried: number[] = [];
  const holds = async (size: number) => tried.push(size) > 0;
  expect(await findLargest(RANGE, holds)).toBe(19_500);
  expect(tried).toEqual([19_500]);
});

test('findLargest returns the minimum when no size works', async () => {
  expect(await findLargest(RANGE, async () => false)).toBe(0);
});
