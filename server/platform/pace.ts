import { runtime } from './runtime.ts';

/** Runs a part of a work that takes the thread or the database for some milliseconds. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** Longest pause: a step that waited for a database that was away needs none of its length. */
const PAUSE_MAX_MS = 100;
/** Shorter pauses add up first: a timer of 0.1 ms takes 1.2 ms, after which steps of 0.1 ms used 6 % of the time. */
const PAUSE_MIN_MS = 1;

/** Leaves time to others: it pauses after each step, for a multiple of its length and at most 100 ms. */
export class Pace {
  private nextStepMs = 0;

  /** @param pauses the length of a pause, in times of the step before it */
  constructor(private readonly pauses = 1) {}

  private pauseMs(): number {
    return this.nextStepMs - runtime.monotonicMs();
  }

  readonly step: Step = async (work) => {
    // Another step may have run in the pause.
    for (let pauseMs = this.pauseMs(); pauseMs >= PAUSE_MIN_MS; pauseMs = this.pauseMs())
      await runtime.sleep(Math.ceil(pauseMs)); // A timer rounds down, so it would run at once.
    const startMs = runtime.monotonicMs();
    try {
      return await work();
    } finally {
      const endMs = runtime.monotonicMs();
      const nextStepMs = Math.max(this.nextStepMs, startMs) + (1 + this.pauses) * (endMs - startMs);
      this.nextStepMs = Math.min(nextStepMs, endMs + PAUSE_MAX_MS);
    }
  };
}
