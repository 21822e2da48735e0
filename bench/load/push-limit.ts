import { lineThrough } from '../run/statistics.ts';
import type { PushStep } from './push-step.ts';

/** So many event streams a core would carry, by those that were measured. */
export interface PushLimit {
  readonly viewers: number;
  /** Where the server's core would be full. */
  readonly fullAt: number;
  /** Where intervals would be too late. */
  readonly lateAt: number;
}

/** @param lateMaxMs how late 99 of 100 streams may be */
export function pushLimitOf(
  steps: readonly Pick<PushStep, 'viewers' | 'cpuShare' | 'p99Ms'>[],
  lateMaxMs: number,
): PushLimit {
  const reaches = (limit: number, of: 'cpuShare' | 'p99Ms') => {
    const { start, slope } = lineThrough(steps.map((step) => ({ x: step.viewers, y: step[of] })));
    return slope > 0 ? (limit - start) / slope : Number.POSITIVE_INFINITY;
  };
  const fullAt = reaches(1, 'cpuShare');
  const lateAt = reaches(lateMaxMs, 'p99Ms');
  return { viewers: Math.min(fullAt, lateAt), fullAt, lateAt };
}
