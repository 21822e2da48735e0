import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { Histogram, ResponseCounter } from './response-counter.ts';

test('a histogram counts a value that equals a bound in the bucket below it, and values above the last bound in the last bucket', () => {
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

test('[O-12] responses are counted beyond 2^32, which a busy day reaches', () => {
  const counter = new ResponseCounter(viewerApi.registerView);
  counter.counts[204] = 2 ** 32 - 1;
  counter.count(204, 0);
  expect(counter.counts[204]).toBe(2 ** 32);
});

const newCounter = () => new ResponseCounter(viewerApi.registerView);

test('[O-12] counts of another counter are merged once', () => {
  const [main, other] = [newCounter(), newCounter()];
  main.countImmediate(204);
  for (const status of [204, 204, 200]) other.countImmediate(status);
  other.count(200, performance.now() - 2_000);
  main.merge(structuredClone(other.take()));
  main.merge(other.take());
  expect([main.counts[204], main.counts[200], other.counts[204]]).toEqual([3, 2, 0]);
  expect(main.durations.counts.reduce((sum, count) => sum + count, 0)).toBe(5);
  expect(main.durations.sum).toBeGreaterThanOrEqual(2);
});
