import { expect, test } from 'bun:test';
import { percentLabel } from './percent.ts';

test.each([
  [0, '0\u00a0%'],
  [0.001, 'less than 1\u00a0%'],
  [0.016, '2\u00a0%'],
  [1, '100\u00a0%'],
])('percentLabel(%d) is %s', (share, text) => {
  expect(percentLabel(share)).toBe(text);
});
