import { expect, test } from 'bun:test';
import { hasFailedLong, nextAttemptMs, outcomeOf } from './schedule.ts';

const S = 1_000;
const HOUR = 3600 * S;

test('[H-14] nextAttemptMs retries after 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h and 12 h, then not at all', () => {
  const delays = Array.from({ length: 9 }, (_, failed) => nextAttemptMs(failed + 1, 0, 0));
  expect(delays).toEqual([
    ...[5 * S, 30 * S, 120 * S, 600 * S],
    ...[HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
    null,
  ]);
});

test('[H-14] nextAttemptMs adds up to a tenth of the delay as jitter', () => {
  expect(nextAttemptMs(1, 1_000, 0)).toBe(6_000);
  expect(nextAttemptMs(1, 1_000, 0.5)).toBe(6_250);
  expect(nextAttemptMs(1, 1_000, 0.999999)).toBe(6_500);
});

test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [199, 'failed'],
  [301, 'failed'],
  [304, 'failed'],
  [400, 'failed'],
  [404, 'failed'],
  [410, 'gone'],
  [500, 'failed'],
  [null, 'failed'],
] as const)('[H-13] [H-14] [H-15] outcomeOf status %p is "%s"', (status, outcome) => {
  expect(outcomeOf(status)).toBe(outcome);
});

test('[H-15] hasFailedLong is true after three days of failures', () => {
  expect(hasFailedLong(1_000, 1_000 + 72 * HOUR - 1)).toBe(false);
  expect(hasFailedLong(1_000, 1_000 + 72 * HOUR)).toBe(true);
});
