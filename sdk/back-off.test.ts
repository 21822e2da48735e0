import { describe, expect, test } from 'bun:test';
import { BackOff } from './back-off.ts';

describe('what failed is tried again', () => {
  test('after twice as long each time, from 0.5 s to 15 s', () => {
    const backOff = new BackOff(() => 1);
    const waits = Array.from({ length: 7 }, () => backOff.nextMs(null));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  test('never sooner than after half of it, so that a crowd spreads over the other half', () => {
    const least = new BackOff(() => 0);
    const middle = new BackOff(() => 0.5);
    expect([least.nextMs(null), least.nextMs(null)]).toEqual([250, 500]);
    expect([middle.nextMs(null), middle.nextMs(null)]).toEqual([375, 750]);
  });

  test('[G-27] not before the Retry-After of the service, and spread after it', () => {
    expect(new BackOff(() => 0).nextMs({ retryAfterMs: 3_000 })).toBe(3_250);
    expect(new BackOff(() => 1).nextMs({ retryAfterMs: 3_000 })).toBe(3_500);
  });

  test('from the shortest wait again, once it worked', () => {
    const backOff = new BackOff(() => 1);
    backOff.nextMs(null);
    backOff.nextMs(null);
    backOff.worked();
    expect(backOff.nextMs(null)).toBe(500);
  });

  test('within bounds of its own, where it has them', () => {
    const backOff = new BackOff(() => 1, 100, 300);
    expect([1, 2, 3].map(() => backOff.nextMs(null))).toEqual([100, 200, 300]);
  });

  test('also after a night of failures', () => {
    const backOff = new BackOff(() => 1);
    for (let failures = 0; failures < 5_000; failures++) backOff.nextMs(null);
    expect(backOff.nextMs(null)).toBe(15_000);
  });
});
