import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';

/** How far sealing is, and how long it has stood still altogether. */
export interface SealedTime {
  /** The watermark. */
  readonly interval: number;
  readonly standstillMs: number;
}

/**
 * Sealing that comes later than this after the last one stood still: the database was unavailable, or no
 * process ran. It is the time between two signs of life of a source (SPEC M-7).
 */
const STANDSTILL_FROM_MS = 2_000;

/** How long sealing stood still, in ms, before it went from one interval to another. */
export function standstillOf(after: number, interval: number): number {
  return Math.max(0, (interval - after) * INTERVAL_MS - STANDSTILL_FROM_MS);
}

/**
 * A clock for what ends unless it is renewed: service time without that in which sealing stood
 * still, when nothing could be renewed, and nobody could be told of an end. It never goes back.
 */
export function leaseClockMs({ interval, standstillMs }: SealedTime, nowMs: number): number {
  return Math.min(nowMs, intervalStartMs(interval + 1) + STANDSTILL_FROM_MS) - standstillMs;
}
