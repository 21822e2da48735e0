import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';

/** The state of sealing, as the database stores it. */
export interface SealedTime {
  /** The watermark: the newest sealed interval. */
  readonly interval: number;
  /** Total time in which sealing was stalled. */
  readonly stalledMs: number;
}

/**
 * Sealing is stalled after this time without a sealed interval: the database was unavailable, or no
 * process ran. This equals the time between two heartbeats of a source (SPEC M-7).
 */
const STALLED_AFTER_MS = 2_000;

/** How long sealing was stalled between two intervals that were sealed one after the other, in ms. */
export function stallBetweenMs(previous: number, next: number): number {
  return Math.max(0, (next - previous) * INTERVAL_MS - STALLED_AFTER_MS);
}

/**
 * The lease clock: service time without the periods in which sealing was stalled. Leases expire by it,
 * because during a stall they cannot be renewed. It never goes back.
 */
export function leaseClockMs({ interval, stalledMs }: SealedTime, nowMs: number): number {
  return Math.min(nowMs, intervalStartMs(interval + 1) + STALLED_AFTER_MS) - stalledMs;
}
