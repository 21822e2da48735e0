import { describe, expect, test } from 'bun:test';
import { exponentOf, lineThrough, median, percentile, spreadOf } from './statistics.ts';

describe('what is made of samples', () => {
  test('the median is the one in the middle, or between the two there', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(() => median([])).toThrow('no samples');
  });

  test('a percentile is one of the samples', () => {
    const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 0)).toBe(1);
    expect(percentile(hundred, 1)).toBe(100);
  });

  test('a spread has the least and the most', () => {
    expect(spreadOf([2, 9, 4])).toEqual({ median: 4, least: 2, most: 9 });
  });

  test('the exponent of what grows as its size is 1, of what does not grow 0, of squares 2', () => {
    const sizes = [1_000, 3_000, 10_000];
    const exponent = (cost: (size: number) => number) =>
      exponentOf(sizes.map((size) => ({ size, cost: cost(size) })));
    expect(exponent((size) => 7 * size)).toBeCloseTo(1);
    expect(exponent(() => 7)).toBeCloseTo(0);
    expect(exponent((size) => size ** 2)).toBeCloseTo(2);
    expect(() => exponentOf([{ size: 1, cost: 1 }])).toThrow('different sizes');
  });
});

test('a line goes through points that are on it, and between those that are not', () => {
  const line = lineThrough([1, 2, 5].map((x) => ({ x, y: 3 + 2 * x })));
  expect(line.start).toBeCloseTo(3);
  expect(line.slope).toBeCloseTo(2);
  const between = [0, 2, 1].map((y, at) => ({ x: Math.min(at, 1), y }));
  expect(lineThrough(between).start).toBeCloseTo(0);
  expect(lineThrough(between).slope).toBeCloseTo(1.5);
});
