const HOUR_S = 3600;

/** Delay before the next attempt, by the number of failed attempts. */
const DELAYS_S = [5, 30, 2 * 60, 10 * 60, HOUR_S, 3 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S];
/** Random share that is added to a delay, so that retries after a common outage spread out. */
const JITTER = 0.1;

/** A webhook without a success for this long is disabled. */
const DISABLE_AFTER_MS = 72 * HOUR_S * 1_000;

/**
 * When to send a delivery again (H-14).
 * @param tries how many attempts have failed, at least one
 * @param jitter in [0, 1)
 * @returns Unix ms; null when no attempt is left
 */
export function nextAttemptMs(tries: number, nowMs: number, jitter: number): number | null {
  const delayS = DELAYS_S[tries - 1];
  return delayS === undefined ? null : nowMs + Math.round(delayS * 1_000 * (1 + JITTER * jitter));
}

/** Classifies the status of an attempt: 2xx is a success, 410 means that the receiver is gone. */
export function outcomeOf(status: number | null): 'delivered' | 'gone' | 'failed' {
  if (status === null) return 'failed';
  if (status >= 200 && status < 300) return 'delivered';
  return status === 410 ? 'gone' : 'failed';
}

/** Whether a webhook has failed for long enough to be disabled (H-15). */
export function hasFailedLong(failingSinceMs: number, nowMs: number): boolean {
  return nowMs - failingSinceMs >= DISABLE_AFTER_MS;
}

/** Concurrent attempts to one webhook, over all nodes. */
export const CONCURRENCY_MAX = 2;
/** Concurrent attempts to a webhook whose last attempt failed; such attempts often time out. */
export const FAILING_CONCURRENCY_MAX = 1;

/** Concurrent attempts of one node. */
export const NODE_CONCURRENCY_MAX = 16;
/** Of these, those to webhooks whose last attempt failed. */
export const NODE_FAILING_MAX = NODE_CONCURRENCY_MAX / 2;
/** Of these, those of one account: they leave room for others. Above `NODE_FAILING_MAX`, so that an
 * account's failing webhooks leave room for its own. */
export const NODE_ACCOUNT_MAX = 12;
/**
 * A delivery takes a place of its account at least this long: one to a fast receiver takes 1 ms of the main thread,
 * and 400 a second of one account took 40 % of it.
 */
export const ACCOUNT_TURN_MS = 300;
