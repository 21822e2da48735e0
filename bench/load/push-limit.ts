import { fitLine } from '../run/statistics.ts';
import type { PushStep } from './push-step.ts';

/** The number of event streams that one core could serve, extrapolated from measurements. */
export interface PushLimit {
  readonly viewers: number;
  /** Viewers at which the core of the server is saturated. */
  readonly saturatedAt: number;
  /** Viewers at which intervals are too late. */
  readonly lateAt: number;
}

/** Extrapolates lines through the steps. @param lateMaxMs limit of the p99 of the time from the end of an interval to its arrival */
export function pushLimitOf(
  steps: readonly Pick<PushStep, 'viewers' | 'serverCpuCores' | 'p99Ms'>[],
  lateMaxMs: number,
): PushLimit {
  const reaches = (limit: number, of: 'serverCpuCores' | 'p99Ms') => {
    const { start, slope } = fitLine(
      steps,
      ({ viewers }) => viewers,
      (step) => step[of],
    );
    return slope > 0 ? (limit - start) / slope : Number.POSITIVE_INFINITY;
  };
  const saturatedAt = reaches(1, 'serverCpuCores');
  const lateAt = reaches(lateMaxMs, 'p99Ms');
  return { viewers: Math.min(saturatedAt, lateAt), saturatedAt, lateAt };
}
