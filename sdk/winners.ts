import { intervalStartMs } from '../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../protocol/limits.ts';
import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { ServiceClock } from './clock.ts';
import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';
import type { CancellableTimers } from './waits.ts';

/** What reporting takes. */
export interface ReportWays {
  readonly env: Pick<Environment, 'random'>;
  readonly clock: Pick<ServiceClock, 'nowMs'>;
  readonly calls: Pick<Calls, 'recordWinner'>;
  readonly waits: CancellableTimers;
}

/** Those who have won do not report at once. */
const SPREAD_MS = 500;
const LEAST_MS = 200;
const MOST_MS = 500;
/** A service that is late takes reports for longer. */
const LATE_MS = 1_000;

/**
 * Reports a winner.
 * @param interval of `request-quiz-winners`
 * @param isSure whether it is known that the viewer has won
 * @returns whether the service counts this viewer
 * @throws Trouble `left`
 */
export async function reportWinner(
  { env, clock, calls, waits }: ReportWays,
  interval: number,
  isSure: boolean,
): Promise<boolean> {
  // Reports are taken until the interval that tells their number is over (SPEC W-4).
  const endMs = intervalStartMs(interval + WINNERS_DELAY_INTERVALS + 1);
  const leftMs = endMs - clock.nowMs();
  if (leftMs < -LATE_MS) return false;
  await waits.wait(env.random() * Math.min(SPREAD_MS, Math.max(0, leftMs / 2)));
  const backOff = new BackOff(env.random, LEAST_MS, MOST_MS);
  for (;;) {
    const trouble = await calls.recordWinner(isSure).then(() => null, asTrouble);
    if (!trouble) return true;
    const ms = backOff.nextMs(trouble);
    if (!trouble.isPassing || clock.nowMs() + ms > endMs + LATE_MS) return false;
    await waits.wait(ms);
  }
}
