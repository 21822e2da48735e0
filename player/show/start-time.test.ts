import { expect, test } from 'bun:test';
import { countdownText, startText } from './start-time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test.each([
  [3 * 24 * HOUR_MS + 5 * HOUR_MS + 1, '3 days 5 h'],
  [24 * HOUR_MS, '1 day 0 h'],
  [HOUR_MS + 2 * MINUTE_MS + 5_000, '1:02:05'],
  [HOUR_MS - 1, '1:00:00'],
  [4 * MINUTE_MS + 8_001, '04:09'],
  [1, '00:01'],
])('[S-18] the countdown of %d ms is %s', (remainingMs, text) => {
  expect(countdownText(remainingMs)).toBe(text);
});

test('[S-18] the countdown ends at the start', () => {
  expect(countdownText(0)).toBeNull();
  expect(countdownText(-5)).toBeNull();
});

test('[S-18] the start has its day, unless it is today', () => {
  const now = new Date(2026, 10, 23, 9, 0).getTime();
  const today = new Date(2026, 10, 23, 20, 0).getTime();
  const friday = new Date(2026, 10, 27, 20, 30).getTime();
  expect(startText(today, now, 'en-GB')).toBe('20:00');
  expect(startText(friday, now, 'en-GB')).toContain('Friday');
  expect(startText(friday, now, 'en-GB')).toContain('20:30');
});
