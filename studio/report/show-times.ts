import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';

/** When a show began, Unix ms: of one that was never started, when it was first counted, or its end. */
export function beginOf({ started, ended, audience }: ReadyReport): number {
  const [first] = audience;
  return Math.min(started ?? ended, first ? intervalStartMs(first.interval) : ended);
}
