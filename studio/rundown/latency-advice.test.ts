import { describe, expect, test } from 'bun:test';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import { latencyAdvice, withLook } from './latency-advice.ts';

const adviceOf = (behindMs: number, allowanceMs: number) =>
  latencyAdvice(Array(5).fill(behindMs), allowanceMs, LATENCY_ALLOWANCE_MAX_MS);

describe('[D-17] the allowance that a picture needs', () => {
  test('is what the picture is late, and something for worse lines', () => {
    expect(adviceOf(4_200, 2_000)).toEqual({ kind: 'short', behindMs: 4_200, betterMs: 5_000 });
    expect(adviceOf(4_000, 0)).toEqual({ kind: 'short', behindMs: 4_000, betterMs: 4_500 });
  });

  test('fits when nobody loses time by the picture, and results do not wait for long', () => {
    expect(adviceOf(4_200, 4_200)).toEqual({ kind: 'fits', behindMs: 4_200 });
    expect(adviceOf(4_200, 8_000)).toEqual({ kind: 'fits', behindMs: 4_200 });
    expect(adviceOf(4_200, 8_001)).toEqual({ kind: 'long', behindMs: 4_200, betterMs: 5_000 });
  });

  test('is said when it was measured for a while, by the middle of what was measured', () => {
    expect(latencyAdvice([4_000, 4_000, 4_000, 4_000], 0, LATENCY_ALLOWANCE_MAX_MS)).toBeNull();
    const looks = [4_000, 90, 4_100, 30_000, 4_200];
    expect(latencyAdvice(looks, 0, LATENCY_ALLOWANCE_MAX_MS)?.behindMs).toBe(4_100);
  });

  test('is not guessed from a picture that nobody could answer by', () => {
    expect(adviceOf(LATENCY_ALLOWANCE_MAX_MS, 0)).toBeNull();
  });

  test('goes by the last looks, and by none at which nothing was seen', () => {
    const many = Array.from({ length: 40 }, (_, n) => n);
    const looks = many.reduce<readonly number[]>((all, one) => withLook(all, one), []);
    expect(looks).toEqual(many.slice(-15));
    expect(withLook(looks, null)).toBe(looks);
  });
});
