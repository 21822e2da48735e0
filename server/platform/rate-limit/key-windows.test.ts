import { expect, test } from 'bun:test';
import { KeyWindows } from './key-windows.ts';

test('[L-9] each key has a window of its own', () => {
  const windows = new KeyWindows({ points: 2, durationS: 60 });
  expect(windows.take('a', 0)).toBe(0);
  expect(windows.take('a', 0)).toBe(0);
  expect(windows.take('a', 0)).toBe(60_000);
  expect(windows.take('b', 0)).toBe(0);
});

test('[L-14] keys beyond the maximum share one window, and known keys keep their own', () => {
  const windows = new KeyWindows({ points: 2, durationS: 60 }, 3);
  const isTaken = (key: string) => windows.take(key, 0) === 0;
  for (const key of ['a', 'b', 'c']) expect(isTaken(key)).toBe(true);
  expect(isTaken('d')).toBe(true);
  expect(isTaken('e')).toBe(true);
  for (const key of ['f', 'g', 'd']) expect(isTaken(key)).toBe(false);
  expect(isTaken('a')).toBe(true);
  expect(isTaken('a')).toBe(false);
});

test('[L-9] a window ends after its duration, and not before', () => {
  const windows = new KeyWindows({ points: 1, durationS: 10 }, 2);
  const isTaken = (key: string, nowMs: number) => windows.take(key, nowMs) === 0;
  for (const [index, key] of ['a', 'b', 'overflow'].entries()) {
    expect(isTaken(key, index * 1_000)).toBe(true);
    expect(isTaken(key, index * 1_000)).toBe(false);
  }
  expect(isTaken('a', 9_999)).toBe(false);
  expect(isTaken('a', 10_000)).toBe(true);
  expect(isTaken('b', 10_000)).toBe(false);
  expect(isTaken('b', 11_000)).toBe(true);
  expect(isTaken('overflow 2', 11_000)).toBe(false);
  expect(isTaken('overflow 2', 12_000)).toBe(true);
});
