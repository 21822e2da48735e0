import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';

// V-3: an interval and the four before it.
const WINDOW_INTERVALS = 4;
// Older heartbeats decide no count that is still to be checked.
const RETENTION_MS = 8_000;
// A request whose connection broke may be read this much later, out of a buffer of the service.
const LINGER_MS = 2_000;

/** A heartbeat that was sent: when it can have arrived, in service time. */
export interface Heartbeat {
  readonly earliestMs: number;
  /** Infinity while it is under way. */
  latestMs: number;
  /** The service said 204. */
  counted: boolean;
}

/** The range that a count must be in. */
export interface CountBounds {
  readonly low: number;
  readonly high: number;
}

/** Arrivals from `afterMs` up to, and not with, `beforeMs`. */
interface Arrivals {
  readonly afterMs: number;
  readonly beforeMs: number;
}

/**
 * Our own record of every heartbeat of every viewer, and what follows from it for the count of the
 * service (I-5). A heartbeat arrived at some moment between its sending and its answer, so there is
 * a least and a greatest number of viewers that the service can have counted.
 */
export class CountLedger {
  private readonly heartbeats = new Map<number, Heartbeat[]>();

  /** A heartbeat of a viewer is about to be sent. */
  sent(viewer: number, earliestMs: number): Heartbeat {
    const heartbeat = { earliestMs, latestMs: Number.POSITIVE_INFINITY, counted: false };
    const known = this.heartbeats.get(viewer);
    if (known) {
      const expired = known.findIndex(({ latestMs }) => latestMs > earliestMs - RETENTION_MS);
      if (expired > 0) known.splice(0, expired);
      known.push(heartbeat);
    } else this.heartbeats.set(viewer, [heartbeat]);
    return heartbeat;
  }

  /** It was answered with 204. */
  acknowledged(heartbeat: Heartbeat, latestMs: number): void {
    heartbeat.latestMs = latestMs;
    heartbeat.counted = true;
  }

  /** Nobody knows whether it was counted: an error, or a connection that broke. */
  lost(heartbeat: Heartbeat, latestMs: number): void {
    heartbeat.latestMs = latestMs + LINGER_MS;
  }

  /** F-26: what a `view-count` event in this interval may say. */
  atEndOf(interval: number): CountBounds {
    const window = {
      afterMs: intervalStartMs(interval - WINDOW_INTERVALS),
      beforeMs: intervalStartMs(interval + 1),
    };
    return this.bounds(window, window);
  }

  /** V-2: what a read between two moments of service time may say. */
  between(fromMs: number, toMs: number): CountBounds {
    return this.bounds(
      { afterMs: windowStartMs(toMs), beforeMs: fromMs },
      { afterMs: windowStartMs(fromMs), beforeMs: toMs },
    );
  }

  // A viewer counts for sure with one answered heartbeat that must have come within `sure`, and may
  // count with one that can have come within `possible`.
  private bounds(sure: Arrivals, possible: Arrivals): CountBounds {
    let low = 0;
    let high = 0;
    for (const heartbeats of this.heartbeats.values()) {
      let present = false;
      let possiblyPresent = false;
      for (const { earliestMs, latestMs, counted } of heartbeats) {
        if (latestMs < possible.afterMs || earliestMs >= possible.beforeMs) continue;
        possiblyPresent = true;
        if (!counted || earliestMs < sure.afterMs || latestMs >= sure.beforeMs) continue;
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
