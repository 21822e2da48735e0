import { expect, test } from 'bun:test';
import { RateLimited } from '../errors.ts';
import { KeyWindows } from './key-windows.ts';
import { RateLimiter } from './rate-limiter.ts';

test('[L-9] a rate limiter says after how many seconds to try again', () => {
  const limiter = new RateLimiter('calls', new KeyWindows({ points: 1, durationS: 10 }));
  limiter.take('a', 0);
  let thrown: unknown;
  try {
    limiter.take('a', 2_500);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toEqual(new RateLimited('Too many calls; try again in 8 s.', 8));
  expect(thrown).toMatchObject({ retryAfterS: 8 });
});

test('[L-9] a rate limiter reads a clock of its own when it is given no time', () => {
  const limiter = new RateLimiter('calls', new KeyWindows({ points: 1, durationS: 60 }));
  expect([limiter.tryTake('a'), limiter.tryTake('a'), limiter.tryTake('b')]).toEqual([
    true,
    false,
    true,
  ]);
});
