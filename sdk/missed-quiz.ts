import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';
import type { Stage } from './stage.ts';
import type { Waits } from './waits.ts';

/** What asking takes. */
export interface MissedWays {
  readonly env: Pick<Environment, 'random'>;
  readonly calls: Pick<Calls, 'interval' | 'stream'>;
  readonly waits: Waits;
}

/**
 * Asks for the quiz that is open, and that nobody here heard of when it was told, until it is known
 * which one, if any.
 * @param before an interval that is sealed, so none can be missed between what is asked for and what
 *   the feed brings from there on
 * @throws Trouble `left`
 */
export async function recallQuiz(
  { env, calls, waits }: MissedWays,
  before: number,
  stage: Pick<Stage, 'recall'>,
): Promise<void> {
  const backOff = new BackOff(env.random);
  for (;;) {
    try {
      const { quiz_interval: told } = await calls.stream(true);
      if (told && told < before) stage.recall(await calls.interval(told));
      return;
    } catch (thrown) {
      await waits.wait(backOff.nextMs(asTrouble(thrown)));
    }
  }
}
