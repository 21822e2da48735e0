import { describe, expect, test } from 'bun:test';
import { audienceSeries, countAt } from './audience-series.ts';

type Pair = readonly [interval: number, count: number];

const points = (...pairs: readonly Pair[]) =>
  pairs.map(([interval, count]) => ({ interval, count }));

const BEGIN_MS = 1_000_000;

describe('the line of the audience', () => {
  const seriesOf = (...pairs: readonly Pair[]) => audienceSeries(points(...pairs), BEGIN_MS);

  test('is as long as what was counted, from the begin of the show', () => {
    expect(seriesOf([4_000, 1], [4_004, 3], [4_008, 2])).toEqual({
      placesS: [0, 1, 2],
      counts: [1, 3, 2],
    });
  });

  test('of nothing is empty', () => {
    expect(seriesOf()).toEqual({ placesS: [], counts: [] });
  });

  test('breaks where nobody counted', () => {
    const { placesS, counts } = seriesOf([4_000, 1], [4_004, 3], [4_404, 2], [4_408, 2]);
    expect(placesS).toEqual([0, 1, 2, 101, 102]);
    expect(counts).toEqual([1, 3, null, 2, 2]);
  });

  test('does not break because a point stands for many seconds', () => {
    const { counts } = seriesOf([4_000, 1], [4_044, 3], [4_088, 2], [4_176, 5]);
    expect(counts).toEqual([1, 3, 2, 5]);
  });
});

describe('how many there were', () => {
  const series = audienceSeries(points([4_000, 1], [4_004, 3], [4_404, 2]), BEGIN_MS);

  test.each([
    [-1, null],
    [0, 1],
    [1.5, 3],
    [60, null],
    [101, 2],
    [1_000, 2],
  ])('at %d s', (placeS, count) => {
    expect(countAt(series, placeS)).toBe(count);
  });
});
