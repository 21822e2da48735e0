import { expect, test } from 'bun:test';
import { Problem } from '../http/problem.ts';
import { Rate } from './rate-limit.ts';

function taken(rate: Rate, key: string): boolean {
  try {
    rate.take(key);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 429) return false;
    throw error;
  }
}

test('[L-9] each key has its own share', () => {
  const rate = new Rate('calls', { points: 2, durationS: 60 });
  expect(taken(rate, 'a')).toBe(true);
  expect(taken(rate, 'a')).toBe(true);
  expect(taken(rate, 'a')).toBe(false);
  expect(taken(rate, 'b')).toBe(true);
});

test('[L-14] beyond so many keys the new ones share one, and the known keep their own', () => {
  const rate = new Rate('calls', { points: 2, durationS: 60 }, 3);
  for (const key of ['a', 'b', 'c']) expect(taken(rate, key)).toBe(true);
  expect(taken(rate, 'd')).toBe(true);
  expect(taken(rate, 'e')).toBe(true);
  for (const key of ['f', 'g', 'd']) expect(taken(rate, key)).toBe(false);
  expect(taken(rate, 'a')).toBe(true);
  expect(taken(rate, 'a')).toBe(false);
});

test('[L-9] a share comes back after its time, and not before', () => {
  let nowMs = 0;
  const rate = new Rate('calls', { points: 1, durationS: 10 }, 2, () => nowMs);
  for (const key of ['a', 'b', 'of the others']) {
    expect(taken(rate, key)).toBe(true);
    expect(taken(rate, key)).toBe(false);
    nowMs += 1_000;
  }
  nowMs = 9_999;
  expect(taken(rate, 'a')).toBe(false);
  nowMs = 10_000;
  expect(taken(rate, 'a')).toBe(true);
  expect(taken(rate, 'b')).toBe(false);
  nowMs = 11_000;
  expect(taken(rate, 'b')).toBe(true);
  expect(taken(rate, 'others again')).toBe(false);
  nowMs = 12_000;
  expect(taken(rate, 'others again')).toBe(true);
});

test('[L-9] who is refused hears after how many seconds to try again', () => {
  let nowMs = 0;
  const rate = new Rate('calls', { points: 1, durationS: 10 }, 1, () => nowMs);
  rate.take('a');
  nowMs = 2_500;
  expect(() => rate.take('a')).toThrow(
    new Problem(429, 'Too many calls; try again in 8 s.', { 'Retry-After': '8' }),
  );
});
