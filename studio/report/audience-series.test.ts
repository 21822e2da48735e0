import { describe, expect, test } from 'bun:test';
import { audienceSeries, countAt } from './audience-series.ts';

type Pair = readonly [interval: number, count: number];

const points = (...pairs: readonly Pair[]) =>
  pairs.map(([interval, count]) => ({ interval, count }));

const START_MS = 1_000_000;

describe('audienceSeries', () => {
  const seriesOf = (...pairs: readonly Pair[]) => audienceSeries(points(...pairs), START_MS);

  test('counts seconds from the start of the show', () => {
    expect(seriesOf([4_000, 1], [4_004, 3], [4_008, 2])).toEqual({
      positionsS: [0, 1, 2],
      counts: [1, 3, 2],
    });
  });

  test('is empty without points', () => {
    expect(seriesOf()).toEqual({ positionsS: [], counts: [] });
  });

  test('breaks the line at a gap', () => {
    const { positionsS, counts } = seriesOf([4_000, 1], [4_004, 3], [4_404, 2], [4_408, 2]);
    expect(positionsS).toEqual([0, 1, 2, 101, 102]);
    expect(counts).toEqual([1, 3, null, 2, 2]);
  });

  test('has no gaps when all points are far apart', () => {
    const { counts } = seriesOf([4_000, 1], [4_044, 3], [4_088, 2], [4_176, 5]);
    expect(counts).toEqual([1, 3, 2, 5]);
  });
});

describe('countAt', () => {
  const series = audienceSeries(points([4_000, 1], [4_004, 3], [4_404, 2]), START_MS);

  test.each([
    [-1, null],
    [0, 1],
    [1.5, 3],
    [60, null],
    [101, 2],
    [1_000, 2],
  ])('at %d s is %p', (positionS, count) => {
    expect(countAt(series, positionS)).toBe(count);
  });
});
