import { fitLine } from '../run/statistics.ts';
import type { PushStep } from './push-step.ts';

/** The number of event streams that one core could serve, extrapolated from measurements. */
export interface PushLimit {
  readonly viewers: number;
  /** Viewers at which the core of the server is saturated. */
  readonly fullAt: number;
  /** Viewers at which intervals are too late. */
  readonly lateAt: number;
}

/** Extrapolates lines through the steps. @param lateMaxMs limit of the p99 of lateness */
export function pushLimitOf(
  steps: readonly Pick<PushStep, 'viewers' | 'cpuShare' | 'p99Ms'>[],
  lateMaxMs: number,
): PushLimit {
  const reaches = (limit: number, of: 'cpuShare' | 'p99Ms') => {
    const { start, slope } = fitLine(
      steps,
      ({ viewers }) => viewers,
      (step) => step[of],
    );
    return slope > 0 ? (limit - start) / slope : Number.POSITIVE_INFINITY;
  };
  const fullAt = reaches(1, 'cpuShare');
  const lateAt = reaches(lateMaxMs, 'p99Ms');
  return { viewers: Math.min(fullAt, lateAt), fullAt, lateAt };
}
