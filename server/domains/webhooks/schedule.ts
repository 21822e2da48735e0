const S = 1_000;
const MINUTE = 60 * S;
const HOUR = 60 * MINUTE;

/** How long after each failure in turn a delivery is sent again, in ms. */
const DELAYS_MS = [
  5 * S,
  30 * S,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
] as const;
/** So many receivers that failed together do not all come back together. */
const JITTER = 0.1;

/** Nothing but failures for so long disables a webhook. */
const FAILING_MS = 72 * HOUR;

/**
 * When to send a delivery again (H-14).
 * @param tries how many attempts have failed, at least one
 * @param jitter in [0, 1)
 * @returns Unix ms; null when it is given up
 */
export function nextAttemptMs(tries: number, nowMs: number, jitter: number): number | null {
  const delayMs = DELAYS_MS[tries - 1];
  return delayMs === undefined ? null : nowMs + Math.round(delayMs * (1 + JITTER * jitter));
}

/** What an answer means: 2xx is a success, and 410 that nobody is there to be told any more. */
export function outcomeOf(status: number | null): 'delivered' | 'gone' | 'failed' {
  if (status === null) return 'failed';
  if (status >= 200 && status < 300) return 'delivered';
  return status === 410 ? 'gone' : 'failed';
}

/** Whether a webhook has failed for so long that it is disabled. */
export function hasFailedLong(failingSinceMs: number, nowMs: number): boolean {
  return nowMs - failingSinceMs >= FAILING_MS;
}

/** Deliveries that are sent to one webhook at once, by all nodes. */
export const EACH_MAX = 2;
/** To one that failed last time: its place is often held for the whole time-out. */
export const EACH_FAILING_MAX = 1;
