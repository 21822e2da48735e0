import { runtime } from './runtime.ts';

/** Runs a part of a work that takes the thread or the database for some milliseconds. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** Longest pause: a step that waited for a database that was away needs none of its length. */
const PAUSE_MAX_MS = 100;

/** Leaves time to others: after a step it pauses, in general for as long as the step took; at most 100 ms. */
export class Pace {
  private nextStepMs = 0;

  /** @param pauses the length of a pause, in times of the step before it */
  constructor(private readonly pauses = 1) {}

  readonly step: Step = async (work) => {
    const pauseMs = this.nextStepMs - runtime.monotonicMs();
    if (pauseMs > 0) await runtime.sleep(pauseMs);
    const startMs = runtime.monotonicMs();
    try {
      return await work();
    } finally {
      const endMs = runtime.monotonicMs();
      const nextStepMs = endMs + Math.min(this.pauses * (endMs - startMs), PAUSE_MAX_MS);
      this.nextStepMs = Math.max(this.nextStepMs, nextStepMs);
    }
  };
}
