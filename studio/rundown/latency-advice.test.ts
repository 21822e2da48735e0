import { describe, expect, test } from 'bun:test';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import { addSample, latencyAdvice } from './latency-advice.ts';

const adviceOf = (delayMs: number, allowanceMs: number) =>
  latencyAdvice(Array(5).fill(delayMs), allowanceMs, LATENCY_ALLOWANCE_MAX_MS);

describe('[D-17] latencyAdvice', () => {
  test('suggests the delay plus a margin when the allowance is short', () => {
    expect(adviceOf(4_200, 2_000)).toEqual({ kind: 'short', delayMs: 4_200, suggestedMs: 5_000 });
    expect(adviceOf(4_000, 0)).toEqual({ kind: 'short', delayMs: 4_000, suggestedMs: 4_500 });
  });

  test('accepts an allowance between the delay and 3 s above the suggestion', () => {
    expect(adviceOf(4_200, 4_200)).toEqual({ kind: 'fits', delayMs: 4_200 });
    expect(adviceOf(4_200, 8_000)).toEqual({ kind: 'fits', delayMs: 4_200 });
    expect(adviceOf(4_200, 8_001)).toEqual({ kind: 'long', delayMs: 4_200, suggestedMs: 5_000 });
  });

  test('needs five samples and uses their median', () => {
    expect(latencyAdvice([4_000, 4_000, 4_000, 4_000], 0, LATENCY_ALLOWANCE_MAX_MS)).toBeNull();
    const samples = [4_000, 90, 4_100, 30_000, 4_200];
    expect(latencyAdvice(samples, 0, LATENCY_ALLOWANCE_MAX_MS)?.delayMs).toBe(4_100);
  });

  test('is null for a delay beyond the maximum allowance', () => {
    expect(adviceOf(LATENCY_ALLOWANCE_MAX_MS, 0)).toBeNull();
  });

  test('addSample keeps the last 15 samples and ignores unknown ones', () => {
    const many = Array.from({ length: 40 }, (_, n) => n);
    const samples = many.reduce<readonly number[]>((all, sample) => addSample(all, sample), []);
    expect(samples).toEqual(many.slice(-15));
    expect(addSample(samples, null)).toBe(samples);
  });
});
