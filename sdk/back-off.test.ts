import { describe, expect, test } from 'bun:test';
import { Backoff } from './back-off.ts';

describe('the backoff', () => {
  test('doubles with each failure, from 0.5 s to 15 s', () => {
    const backoff = new Backoff(() => 1);
    const waitsMs = Array.from({ length: 7 }, () => backoff.nextMs(null));
    expect(waitsMs).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  test('is spread over its second half, so that a crowd does not retry together', () => {
    const shortest = new Backoff(() => 0);
    const middle = new Backoff(() => 0.5);
    expect([shortest.nextMs(null), shortest.nextMs(null)]).toEqual([250, 500]);
    expect([middle.nextMs(null), middle.nextMs(null)]).toEqual([375, 750]);
  });

  test('[G-27] is added to the Retry-After of the service', () => {
    expect(new Backoff(() => 0).nextMs({ retryAfterMs: 3_000 })).toBe(3_250);
    expect(new Backoff(() => 1).nextMs({ retryAfterMs: 3_000 })).toBe(3_500);
  });

  test('starts anew after a success', () => {
    const backoff = new Backoff(() => 1);
    backoff.nextMs(null);
    backoff.nextMs(null);
    backoff.reset();
    expect(backoff.nextMs(null)).toBe(500);
  });

  test('stays within custom bounds', () => {
    const backoff = new Backoff(() => 1, 100, 300);
    expect([1, 2, 3].map(() => backoff.nextMs(null))).toEqual([100, 200, 300]);
  });

  test('stays at its maximum after thousands of failures', () => {
    const backoff = new Backoff(() => 1);
    for (let failures = 0; failures < 5_000; failures++) backoff.nextMs(null);
    expect(backoff.nextMs(null)).toBe(15_000);
  });
});
