import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Histogram } from './histogram.ts';

test('a histogram counts a value on a bound below it, and values above the last bound in the last bucket', () => {
  const histogram = new Histogram([1, 5]);
  for (const value of [0, 1, 1.5, 5, 5.1, 1_000]) histogram.add(value);
  expect([...histogram.counts]).toEqual([2, 2, 2]);
  expect(histogram.sum).toBe(1_012.6);
});

test('a histogram counts every value once, in the bucket between whose bounds it lies', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, min: -10, max: 10 })), (values) => {
      const bounds = [-5, 0, 2.5, 5];
      const histogram = new Histogram(bounds);
      for (const value of values) histogram.add(value);
      const expected = [...bounds, Number.POSITIVE_INFINITY].map(
        (bound, index) =>
          values.filter((value) => value <= bound && value > (bounds[index - 1] ?? -Infinity))
            .length,
      );
      expect([...histogram.counts]).toEqual(expected);
    }),
  );
});

test('a histogram counts beyond 2^32', () => {
  const histogram = new Histogram([1]);
  histogram.counts[0] = 2 ** 32 - 1;
  histogram.add(0.5);
  expect(histogram.counts[0]).toBe(2 ** 32);
});
