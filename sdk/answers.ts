import { intervalStartMs } from '../protocol/interval.ts';
import type { ApiClient } from './api-client.ts';
import { Backoff } from './back-off.ts';
import type { CancellableTimers } from './cancellable-timers.ts';
import type { ServiceClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { toFourbeatError } from './errors.ts';
import type { Quiz } from './types.ts';
import type { AnswerOutcome } from './viewer.ts';

/** Dependencies of `sendAnswer`. */
export interface AnswerDeps {
  readonly env: Pick<Environment, 'random'>;
  readonly clock: Pick<ServiceClock, 'nowMs' | 'errorMs'>;
  readonly api: Pick<ApiClient, 'answer'>;
  readonly timers: CancellableTimers;
}

/** Backoff before jitter: the shortest wait is 0.2 s. */
const MIN_BACKOFF_MS = 400;
const MAX_BACKOFF_MS = 1_000;
/** Attempts continue for this long after the close: the service still responds with the result. */
const AFTER_CLOSE_MS = 3_000;

/**
 * Sends an answer until its result is known. Resending the same answer is harmless and returns the
 * result, also after the close (SPEC Q-13).
 * @throws FourbeatError `refused` (except status 409), `unknown` or `left`
 */
export async function sendAnswer(
  { env, clock, api, timers }: AnswerDeps,
  quiz: Quiz,
  choice: string,
): Promise<AnswerOutcome> {
  const closeMs = intervalStartMs(quiz.closeInterval);
  const untilMs = closeMs + AFTER_CLOSE_MS;
  const backoff = new Backoff(env.random, MIN_BACKOFF_MS, MAX_BACKOFF_MS);
  // Whether the service may have counted an attempt to which it did not respond.
  let mayBeCounted = false;
  for (;;) {
    const isLast = clock.nowMs() >= untilMs;
    const error = await api.answer(quiz, choice).then(() => null, toFourbeatError);
    if (!error) return 'counted';
    const nowMs = clock.nowMs();
    if (error.status === 409) {
      if (nowMs + clock.errorMs < closeMs) return 'other-answer';
      // An earlier attempt may still be in progress in the service.
      if (isLast || !mayBeCounted) return 'too-late';
    } else if (!error.isRetryable && error.kind !== 'denied') {
      throw error;
    }
    mayBeCounted ||= error.kind === 'unavailable';
    const leftMs = Math.max(0, untilMs - nowMs);
    if (isLast || (error.retryAfterMs ?? 0) > leftMs) return mayBeCounted ? 'unknown' : 'too-late';
    // The last attempt is at `untilMs`, or later when the machine slept.
    await timers.wait(Math.min(backoff.nextMs(error), leftMs));
  }
}
