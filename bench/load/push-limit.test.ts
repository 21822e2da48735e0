import { describe, expect, test } from 'bun:test';
import { pushLimitOf } from './push-limit.ts';

const P99_MAX_MS = 250;
const stepsWith = (cpuOf: (viewers: number) => number, p99Of: (viewers: number) => number) =>
  [1_000, 5_000, 19_000].map((viewers) => ({
    viewers,
    serverCpuCores: cpuOf(viewers),
    p99Ms: p99Of(viewers),
  }));

describe('the number of event streams that a core could serve', () => {
  test('is where the core is saturated', () => {
    const steps = stepsWith(
      (viewers) => 0.04 + viewers / 40_000,
      (viewers) => 5 + viewers / 500,
    );
    const { viewers, saturatedAt, lateAt } = pushLimitOf(steps, P99_MAX_MS);
    expect(saturatedAt).toBeCloseTo(38_400);
    expect(lateAt).toBeCloseTo(122_500);
    expect(viewers).toBe(saturatedAt);
  });

  test('is where intervals are too late, when that is less', () => {
    const steps = stepsWith(
      (viewers) => viewers / 40_000,
      (viewers) => viewers / 100,
    );
    expect(pushLimitOf(steps, P99_MAX_MS).viewers).toBeCloseTo(25_000);
  });

  test('has no limit by a figure that does not grow', () => {
    const steps = stepsWith(
      (viewers) => viewers / 40_000,
      () => 12,
    );
    expect(pushLimitOf(steps, P99_MAX_MS)).toMatchObject({
      viewers: 40_000,
      lateAt: Number.POSITIVE_INFINITY,
    });
  });
});
