import { expect, test } from 'bun:test';
import { SeatPool } from './seat-pool.ts';

test('[N-16] block sizes double up to 256 seats, and are larger if more seats are needed at once', () => {
  const pool = new SeatPool();
  const sizes = Array.from({ length: 10 }, () => pool.nextBlockSize(1));
  expect(sizes).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 256]);
  expect(pool.nextBlockSize(1_000)).toBe(1_000);
  expect(pool.nextBlockSize(1)).toBe(256);
});

test('[T-8] a seat pool returns the lowest free seat first, including returned seats', () => {
  const pool = new SeatPool();
  pool.put([4, 5, 6]);
  expect(pool.take(2)).toEqual([4, 5]);
  pool.put([9, 10]);
  pool.put([4]);
  expect(pool.take(3)).toEqual([4, 6, 9]);
  expect(pool.take(3)).toEqual([10]);
  expect(pool.take(1)).toEqual([]);
});
