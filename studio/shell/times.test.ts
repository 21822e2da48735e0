import { expect, test } from 'bun:test';
import { ago } from './times.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 12);

test.each([
  [0, 'just now'],
  [59_000, 'just now'],
  [60_000, '1 minute ago'],
  [7_200_000, '2 hours ago'],
  [86_400_000, 'yesterday'],
])('ago: %d ms is "%s"', (ms, text) => expect(ago(NOW_MS - ms, NOW_MS)).toBe(text));

test('ago is a date after a week', () =>
  expect(ago(NOW_MS - 9 * 86_400_000, NOW_MS)).toContain('2025'));
