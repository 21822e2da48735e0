import { afterAll, beforeAll, expect, test } from 'bun:test';
import { replaceRuntime, SYSTEM_RUNTIME } from './runtime.ts';
import { runInSlices, type Sliced } from './slices.ts';

let nowMs = 0;
beforeAll(() => replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs }));
afterAll(() => replaceRuntime(SYSTEM_RUNTIME));

/** Takes 3 ms a step. */
function* sum(steps: number): Sliced<number> {
  let total = 0;
  for (let step = 1; step <= steps; step++) {
    nowMs += 3;
    total += step;
    yield;
  }
  return total;
}

test('a long computation takes a step for each 9 ms, and a short one takes one step', async () => {
  let steps = 0;
  const step = <T>(work: () => Promise<T>) => {
    steps++;
    return work();
  };
  expect(await runInSlices(sum(2), step)).toBe(3);
  expect(steps).toBe(1);
  expect(await runInSlices(sum(7), step)).toBe(28);
  expect(steps).toBe(1 + 3);
});
