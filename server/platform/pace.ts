import { runtime } from './runtime.ts';

/** Runs a part of a work that takes the thread or the database for some milliseconds. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** Leaves half of the time to others: a step begins when as long has passed as the step before took. */
export class Pace {
  private nextStepMs = 0;

  readonly step: Step = async (work) => {
    const pauseMs = this.nextStepMs - runtime.monotonicMs();
    if (pauseMs > 0) await runtime.sleep(pauseMs);
    const startMs = runtime.monotonicMs();
    const result = await work();
    const endMs = runtime.monotonicMs();
    this.nextStepMs = endMs + (endMs - startMs);
    return result;
  };
}
