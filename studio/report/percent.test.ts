import { expect, test } from 'bun:test';
import { percentOf } from './percent.ts';

test.each([
  [0, '0 %'],
  [0.001, 'less than 1 %'],
  [0.016, '2 %'],
  [1, '100 %'],
])('a share of %d is %s', (share, text) => {
  expect(percentOf(share)).toBe(text);
});
