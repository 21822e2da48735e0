import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';

// V-3: a count covers its interval and the four before it.
const WINDOW_INTERVALS = 4;
// Older heartbeats do not affect counts that are checked when they arrive.
const RETENTION_MS = 8_000;
// For this long after a connection broke, the service may still read a request from a buffer.
const LINGER_MS = 2_000;

/** A sent heartbeat and the service times between which it can have arrived. */
export interface Heartbeat {
  readonly earliestMs: number;
  /** Infinity while there is no response. */
  latestMs: number;
  /** Whether the service must count it: it sent a 204, and no fault may have lost the heartbeat. */
  isCertain: boolean;
}

/** The range that a count must be in. */
export interface CountBounds {
  readonly low: number;
  readonly high: number;
}

/** Arrival times in [`afterMs`, `beforeMs`). */
interface Arrivals {
  readonly afterMs: number;
  readonly beforeMs: number;
}

/**
 * All heartbeats of the crowd, and the bounds that follow for the service's count (I-5). A heartbeat
 * arrives at an unknown time between its request and its response, which gives a lower and an upper
 * bound of the count.
 */
export class CountLedger {
  private readonly heartbeats = new Map<number, Heartbeat[]>();

  /** @param retentionMs older heartbeats of a viewer are forgotten: later counts are not affected */
  constructor(private readonly retentionMs = RETENTION_MS) {}

  /** Records a heartbeat that is about to be sent. */
  sent(viewer: number, earliestMs: number): Heartbeat {
    const heartbeat = { earliestMs, latestMs: Number.POSITIVE_INFINITY, isCertain: false };
    const existing = this.heartbeats.get(viewer);
    if (existing) {
      const oldestMs = earliestMs - this.retentionMs;
      const firstValid = existing.findIndex(({ latestMs }) => latestMs > oldestMs);
      if (firstValid > 0) existing.splice(0, firstValid);
      existing.push(heartbeat);
    } else this.heartbeats.set(viewer, [heartbeat]);
    return heartbeat;
  }

  /** Records a 204 response. */
  acknowledged(heartbeat: Heartbeat, latestMs: number): void {
    heartbeat.latestMs = latestMs;
    heartbeat.isCertain = true;
  }

  /** Records an error or a broken connection: whether the heartbeat was counted is unknown. */
  lost(heartbeat: Heartbeat, latestMs: number): void {
    heartbeat.latestMs = latestMs + LINGER_MS;
  }

  /** Bounds of a `view-count` event in this interval (F-26). */
  boundsAtEndOf(interval: number): CountBounds {
    const window = {
      afterMs: intervalStartMs(interval - WINDOW_INTERVALS),
      beforeMs: intervalStartMs(interval + 1),
    };
    return this.bounds(window, window);
  }

  /** Bounds of a count that was read between two service times (V-2). */
  boundsBetween(fromMs: number, toMs: number): CountBounds {
    return this.bounds(
      { afterMs: windowStartMs(toMs), beforeMs: fromMs },
      { afterMs: windowStartMs(fromMs), beforeMs: toMs },
    );
  }

  // `low` counts the viewers of whom a certain heartbeat must have arrived within `sure`, `high`
  // those of whom any heartbeat can have arrived within `possible`.
  private bounds(sure: Arrivals, possible: Arrivals): CountBounds {
    let low = 0;
    let high = 0;
    for (const heartbeats of this.heartbeats.values()) {
      let present = false;
      let possiblyPresent = false;
      for (const { earliestMs, latestMs, isCertain } of heartbeats) {
        if (latestMs < possible.afterMs || earliestMs >= possible.beforeMs) continue;
        possiblyPresent = true;
        if (!isCertain || earliestMs < sure.afterMs || latestMs >= sure.beforeMs) continue;
        present = true;
        break;
      }
      if (present) low++;
      if (possiblyPresent) high++;
    }
    return { low, high };
  }
}

function windowStartMs(atMs: number): number {
  return intervalStartMs(intervalAt(atMs) - WINDOW_INTERVALS);
}
