import { expect, test } from 'bun:test';
import { exponentOf, fitLine, median, spreadOf } from './statistics.ts';

test('the median is the middle sample, or the mean of the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow('no samples');
});

test('a spread has the median, the minimum and the maximum', () => {
  expect(spreadOf([2, 9, 4])).toEqual({ median: 4, least: 2, most: 9 });
});

test('the exponent is 1 for a proportional cost, 0 for a constant one and 2 for a square', () => {
  const sizes = [1_000, 3_000, 10_000];
  const exponent = (cost: (size: number) => number) => exponentOf(sizes, (size) => size, cost);
  expect(exponent((size) => 7 * size)).toBeCloseTo(1);
  expect(exponent(() => 7)).toBeCloseTo(0);
  expect(exponent((size) => size ** 2)).toBeCloseTo(2);
  expect(() => exponentOf([1], Number, Number)).toThrow('different sizes');
});

test('fitLine returns the line of collinear points, and fits others by least squares', () => {
  const xOf = ([x]: readonly [number, number]) => x;
  const yOf = ([, y]: readonly [number, number]) => y;
  const line = fitLine(
    [
      [1, 5],
      [2, 7],
      [5, 13],
    ] as const,
    xOf,
    yOf,
  );
  expect(line.start).toBeCloseTo(3);
  expect(line.slope).toBeCloseTo(2);
  const between = fitLine(
    [
      [0, 0],
      [1, 2],
      [1, 1],
    ] as const,
    xOf,
    yOf,
  );
  expect(between.start).toBeCloseTo(0);
  expect(between.slope).toBeCloseTo(1.5);
});
