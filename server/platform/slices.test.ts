import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Pace } from './pace.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from './runtime.ts';
import { runInSlices, type Sliced } from './slices.ts';

let nowMs = 0;
const pauses: number[] = [];

beforeAll(() =>
  replaceRuntime({
    ...SYSTEM_RUNTIME,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      pauses.push(ms);
      nowMs += ms;
    },
  }),
);
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

test('a long computation pauses after each 9 ms, and a short one does not', async () => {
  expect(await runInSlices(sum(2), new Pace().step)).toBe(3);
  expect(pauses).toEqual([]);
  expect(await runInSlices(sum(7), new Pace().step)).toBe(28);
  expect(pauses).toEqual([9, 9]);
});
