import { describe, expect, test } from 'bun:test';
import { addTime, addTimes, quantile, type Times } from './times.ts';

const timesOf = (...all: number[]): Times => {
  const times: Times = {};
  for (const ms of all) addTime(times, ms);
  return times;
};

describe('times', () => {
  test('[J-7] are whole up to 2 s, and less than 0.1 % short from there on', () => {
    for (const ms of [0, 1, 249, 1_999, 2_047]) {
      expect(quantile(timesOf(ms), 0.5)).toBe(ms);
    }
    for (let ms = 2_048; ms < 700_000; ms += 77) {
      const kept = quantile(timesOf(ms), 0.5) as number;
      expect(kept).toBeLessThanOrEqual(ms);
      expect(kept).toBeGreaterThan(ms * 0.999);
    }
  });

  test('are at most 12,000, however many answers there are', () => {
    const times: Times = {};
    for (let ms = 0; ms < 660_000; ms++) addTime(times, ms);
    expect(Object.keys(times).length).toBeLessThan(12_000);
    expect(Object.values(times).reduce((sum, n) => sum + n)).toBe(660_000);
  });

  test('[J-7] a quantile is the time by which so many had come, in any order they came', () => {
    const times = timesOf(900, 100, 300, 200, 400, 600, 500, 800, 700, 1_000);
    expect(quantile(times, 0.5)).toBe(500);
    expect(quantile(times, 0.9)).toBe(900);
    expect(quantile(times, 1)).toBe(1_000);
    expect(quantile({}, 0.5)).toBeNull();
  });

  test('a time before 0 counts as 0', () => {
    expect(quantile(timesOf(-1, -5_000), 1)).toBe(0);
  });

  test('added to others they are as if all had been counted together', () => {
    const some = [5, 2_049, 300_001, 5];
    const more = [5, 2_048, 70_000];
    const together = timesOf(...some);
    addTimes(together, timesOf(...more));
    expect(together).toEqual(timesOf(...some, ...more));
  });
});
