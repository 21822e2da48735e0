import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';

/** Start of a show, Unix ms. For a show that was never started: its first count, or its end. */
export function showStartMs({ started, ended, audience }: ReadyReport): number {
  const [first] = audience;
  return Math.min(started ?? ended, first ? intervalStartMs(first.interval) : ended);
}
