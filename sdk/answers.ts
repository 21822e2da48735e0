import { intervalStartMs } from '../protocol/interval.ts';
import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { ServiceClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';
import type { Quiz } from './types.ts';
import type { AnswerOutcome } from './viewer.ts';
import type { CancellableTimers } from './waits.ts';

/** What sending an answer takes. */
export interface AnswerWays {
  readonly env: Pick<Environment, 'random'>;
  readonly clock: Pick<ServiceClock, 'nowMs' | 'errorMs'>;
  readonly calls: Pick<Calls, 'answer'>;
  readonly waits: CancellableTimers;
}

/** Waits are half of these and more: from 0.2 s on. */
const LEAST_MS = 400;
const MOST_MS = 1_000;
/** The service still knows after the close what it has taken; so long it is asked. */
const AFTER_CLOSE_MS = 3_000;

/**
 * Sends an answer until it is known what became of it. The same answer again does no harm and tells
 * the truth, also after the close (SPEC Q-13).
 * @throws Trouble that does not pass: `refused`, `unknown`, `left`
 */
export async function sendAnswer(
  { env, clock, calls, waits }: AnswerWays,
  quiz: Quiz,
  choice: string,
): Promise<AnswerOutcome> {
  const closeMs = intervalStartMs(quiz.closeInterval);
  const untilMs = closeMs + AFTER_CLOSE_MS;
  const backOff = new BackOff(env.random, LEAST_MS, MOST_MS);
  // Whether a try may have reached the service that no answer came to.
  let mayCount = false;
  for (;;) {
    const isLast = clock.nowMs() >= untilMs;
    const trouble = await calls.answer(quiz, choice).then(() => null, asTrouble);
    if (!trouble) return 'counted';
    const nowMs = clock.nowMs();
    if (trouble.status === 409) {
      if (nowMs + clock.errorMs < closeMs) return 'other-answer';
      // What came before it may still be on its way through the service.
      if (isLast || !mayCount) return 'too-late';
    } else if (!trouble.isPassing && trouble.kind !== 'denied') {
      throw trouble;
    }
    mayCount ||= trouble.kind === 'away';
    const leftMs = Math.max(0, untilMs - nowMs);
    if (isLast || (trouble.retryAfterMs ?? 0) > leftMs) return mayCount ? 'unknown' : 'too-late';
    // The last try is at the end, and after a sleep.
    await waits.wait(Math.min(backOff.nextMs(trouble), leftMs));
  }
}
