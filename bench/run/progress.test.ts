import { expect, test } from 'bun:test';
import { timeOf } from './progress.ts';

test('the remaining time is rounded to 5 s or to minutes', () => {
  expect([0, 1_200, 42_000, 89_000, 100_000, 600_000].map(timeOf)).toEqual([
    'nearly there',
    'about 5 s left',
    'about 45 s left',
    'about 90 s left',
    'about 2 minutes left',
    'about 10 minutes left',
  ]);
});
