import { intervalStartMs } from '../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../protocol/limits.ts';
import type { ApiClient } from './api-client.ts';
import { Backoff } from './back-off.ts';
import type { CancellableTimers } from './cancellable-timers.ts';
import type { ServiceClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { toFourbeatError } from './errors.ts';

/** Dependencies of `reportWinner`. */
export interface WinnerReportDeps {
  readonly env: Pick<Environment, 'random' | 'visibility'>;
  readonly clock: Pick<ServiceClock, 'nowMs'>;
  readonly api: Pick<ApiClient, 'recordWinner'>;
  readonly timers: CancellableTimers;
}

/** Reports of all winners are spread over this time. */
const SPREAD_MS = 500;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 1_000;
/**
 * A service that is behind accepts reports for longer, and one whose response was lost is acknowledged again. That
 * may be noticed after the timeout of a request, 5 s.
 */
const GRACE_MS = 8_000;

/**
 * Reports this viewer as a winner.
 * @param interval the interval of `request-quiz-winners`
 * @param isSure whether the viewer is known to have won
 * @returns whether the service counts this viewer as a winner
 * @throws FourbeatError `left`
 */
export async function reportWinner(
  { env, clock, api, timers }: WinnerReportDeps,
  interval: number,
  isSure: boolean,
): Promise<boolean> {
  // Reports are accepted until the end of the interval that has their count (SPEC W-4).
  const endMs = intervalStartMs(interval + WINNERS_DELAY_INTERVALS + 1);
  const remainingMs = endMs - clock.nowMs();
  if (remainingMs < -GRACE_MS) return false;
  // In a hidden page the timer would take up to 1.5 s, and the report would be too late.
  if (!env.visibility?.isHidden())
    await timers.wait(env.random() * Math.min(SPREAD_MS, remainingMs / 2));
  const backoff = new Backoff(env.random, MIN_BACKOFF_MS, MAX_BACKOFF_MS);
  for (;;) {
    const error = await api.recordWinner(isSure).then(() => null, toFourbeatError);
    if (!error) return true;
    const ms = backoff.nextMs(error);
    // After a 409 it may still process an attempt to which it did not respond, or prolong the round (W-5).
    const mayWin = error.isRetryable || error.status === 409;
    if (!mayWin || clock.nowMs() + ms > endMs + GRACE_MS) return false;
    await timers.wait(ms);
  }
}
