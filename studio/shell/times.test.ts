import { expect, test } from 'bun:test';
import { ago, durationOf } from './times.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 12);

test.each([
  [0, 'just now'],
  [59_000, 'just now'],
  [60_000, '1 minute ago'],
  [7_200_000, '2 hours ago'],
  [86_400_000, 'yesterday'],
])('%d ms ago is "%s"', (ms, words) => expect(ago(NOW_MS - ms, NOW_MS)).toBe(words));

test('a longer time ago is a date', () =>
  expect(ago(NOW_MS - 9 * 86_400_000, NOW_MS)).toContain('2025'));

test.each([
  [0, '0:00'],
  [61_000, '1:01'],
  [3_723_000, '1:02:03'],
  [-5, '0:00'],
])('%d ms last %s', (ms, words) => expect(durationOf(ms)).toBe(words));
