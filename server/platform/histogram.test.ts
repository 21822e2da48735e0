import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Histogram } from './histogram.ts';

test('a value on a bound belongs below it, one above the last bound to the last bucket', () => {
  const buckets = new Histogram([1, 5]);
  for (const value of [0, 1, 1.5, 5, 5.1, 1_000]) buckets.add(value);
  expect([...buckets.counts]).toEqual([2, 2, 2]);
  expect(buckets.sum).toBe(1_012.6);
});

test('every value is counted once, in the bucket whose bounds it lies between', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, min: -10, max: 10 })), (values) => {
      const bounds = [-5, 0, 2.5, 5];
      const buckets = new Histogram(bounds);
      for (const value of values) buckets.add(value);
      const expected = [...bounds, Number.POSITIVE_INFINITY].map(
        (bound, index) =>
          values.filter((value) => value <= bound && value > (bounds[index - 1] ?? -Infinity))
            .length,
      );
      expect([...buckets.counts]).toEqual(expected);
    }),
  );
});

test('counts go on beyond 2^32, which a busy day reaches', () => {
  const buckets = new Histogram([1]);
  buckets.counts[0] = 2 ** 32 - 1;
  buckets.add(0.5);
  expect(buckets.counts[0]).toBe(2 ** 32);
});
