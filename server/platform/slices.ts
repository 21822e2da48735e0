import type { Step } from './pace.ts';
import { runtime } from './runtime.ts';

/** A computation that can pause at each `yield`, at least once a millisecond. */
export type Sliced<Result> = Generator<undefined, Result>;

/** How long a slice takes the thread: others wait this long, about as for a page of JSON. */
const SLICE_MS = 8;

/** Goes on with a computation for one slice. */
export function runSlice<Result>(work: Sliced<Result>): IteratorResult<undefined, Result> {
  const endMs = runtime.monotonicMs() + SLICE_MS;
  let state = work.next();
  while (!state.done && runtime.monotonicMs() < endMs) state = work.next();
  return state;
}

/** Runs a computation in slices, and others between them. @param step of a `Pace` */
export async function runInSlices<Result>(work: Sliced<Result>, step: Step): Promise<Result> {
  for (;;) {
    const state = await step(async () => runSlice(work));
    if (state.done) return state.value;
  }
}
