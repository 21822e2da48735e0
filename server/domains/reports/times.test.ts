import { describe, expect, test } from 'bun:test';
import { addTime, addTimes, quantile, type Times } from './times.ts';

const timesOf = (...all: number[]): Times => {
  const times: Times = {};
  for (const ms of all) addTime(times, ms);
  return times;
};

describe('a histogram of answer times', () => {
  test('[J-7] a histogram of answer times is exact up to 2 s, and less than 0.1 % short beyond', () => {
    for (const ms of [0, 1, 249, 1_999, 2_047]) {
      expect(quantile(timesOf(ms), 0.5)).toBe(ms);
    }
    for (let ms = 2_048; ms < 700_000; ms += 77) {
      const kept = quantile(timesOf(ms), 0.5) as number;
      expect(kept).toBeLessThanOrEqual(ms);
      expect(kept).toBeGreaterThan(ms * 0.999);
    }
  });

  test('a histogram of answer times has at most 12,000 keys for any number of answers', () => {
    const times: Times = {};
    for (let ms = 0; ms < 660_000; ms++) addTime(times, ms);
    expect(Object.keys(times).length).toBeLessThan(12_000);
    expect(Object.values(times).reduce((sum, n) => sum + n)).toBe(660_000);
  });

  test('[J-7] a histogram of answer times has quantiles that do not depend on the order of answers', () => {
    const times = timesOf(900, 100, 300, 200, 400, 600, 500, 800, 700, 1_000);
    expect(quantile(times, 0.5)).toBe(500);
    expect(quantile(times, 0.9)).toBe(900);
    expect(quantile(times, 1)).toBe(1_000);
    expect(quantile({}, 0.5)).toBeNull();
  });

  test('a histogram of answer times counts times below 0 as 0', () => {
    expect(quantile(timesOf(-1, -5_000), 1)).toBe(0);
  });

  test('a histogram of answer times can be added to another one without a difference', () => {
    const some = [5, 2_049, 300_001, 5];
    const more = [5, 2_048, 70_000];
    const together = timesOf(...some);
    addTimes(together, timesOf(...more));
    expect(together).toEqual(timesOf(...some, ...more));
  });
});
