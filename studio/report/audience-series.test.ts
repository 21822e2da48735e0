import { describe, expect, test } from 'bun:test';
import { audienceSeries, countAt } from './audience-series.ts';

const points = (...pairs: readonly (readonly [interval: number, count: number])[]) =>
  pairs.map(([interval, count]) => ({ interval, count }));

describe('the line of the audience', () => {
  test('is as long as what was counted', () => {
    expect(audienceSeries(points([4_000, 1], [4_004, 3], [4_008, 2]))).toEqual({
      atS: [1_000, 1_001, 1_002],
      counts: [1, 3, 2],
    });
  });

  test('of nothing is empty', () => {
    expect(audienceSeries([])).toEqual({ atS: [], counts: [] });
  });

  test('breaks where nobody counted', () => {
    const { atS, counts } = audienceSeries(points([4_000, 1], [4_004, 3], [4_404, 2], [4_408, 2]));
    expect(atS).toEqual([1_000, 1_001, 1_002, 1_101, 1_102]);
    expect(counts).toEqual([1, 3, null, 2, 2]);
  });

  test('does not break because a point stands for many seconds', () => {
    const { counts } = audienceSeries(points([4_000, 1], [4_044, 3], [4_088, 2], [4_176, 5]));
    expect(counts).toEqual([1, 3, 2, 5]);
  });
});

describe('how many there were', () => {
  const series = audienceSeries(points([4_000, 1], [4_004, 3], [4_404, 2]));

  test.each([
    [999_999, null],
    [1_000_000, 1],
    [1_001_500, 3],
    [1_060_000, null],
    [1_101_000, 2],
    [2_000_000, 2],
  ])('at %d', (atMs, count) => {
    expect(countAt(series, atMs)).toBe(count);
  });
});
