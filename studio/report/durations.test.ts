import { expect, test } from 'bun:test';
import { durationLabel, positionLabel, secondsLabel } from './durations.ts';

const MINUTE_MS = 60_000;

test.each([
  [0, '0 s'],
  [40_400, '40 s'],
  [59_600, '1 min'],
  [12 * MINUTE_MS + 5_000, '12 min 5 s'],
  [60 * MINUTE_MS, '1 h'],
  [64 * MINUTE_MS + 9_000, '1 h 4 min'],
  [180 * MINUTE_MS, '3 h'],
])('durationLabel(%d) is %s', (ms, text) => {
  expect(durationLabel(ms)).toBe(text);
});

test.each([
  [-5, '0:00'],
  [9_999, '0:09'],
  [4 * MINUTE_MS + 9_000, '4:09'],
  [14 * MINUTE_MS, '14:00'],
  [64 * MINUTE_MS + 9_000, '1:04:09'],
])('positionLabel(%d) is %s', (ms, text) => {
  expect(positionLabel(ms)).toBe(text);
});

test.each([
  [0, '0.0\u00a0s'],
  [304, '0.3\u00a0s'],
  [415, '0.42\u00a0s'],
  [2_349, '2.3\u00a0s'],
  [61_000, '61.0\u00a0s'],
])('secondsLabel(%d) is %s', (ms, text) => {
  expect(secondsLabel(ms)).toBe(text);
});
