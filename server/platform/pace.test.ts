import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Pace } from './pace.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from './runtime.ts';

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

test('[L-19] a step begins when as long has passed as the step before took', async () => {
  const pace = new Pace();
  const take = (ms: number) =>
    pace.step(async () => {
      nowMs += ms;
    });
  await take(30);
  expect(pauses).toEqual([]);
  await take(5);
  expect(pauses).toEqual([30]);
  nowMs += 2;
  await take(1);
  expect(pauses).toEqual([30, 3]);
  nowMs += 1;
  await take(1);
  expect(pauses).toEqual([30, 3]);
});

test('[L-19] a step that waited for a database that was away, and failed, pauses 100 ms', async () => {
  pauses.length = 0;
  const pace = new Pace();
  const failed = pace.step(async () => {
    nowMs += 600_000;
    throw new Error('away');
  });
  expect(failed).rejects.toThrow('away');
  await failed.catch(() => {});
  await pace.step(async () => {});
  expect(pauses).toEqual([100]);
});

test('[L-19] pauses below 1 ms add up, for a timer takes longer', async () => {
  pauses.length = 0;
  const pace = new Pace();
  const startMs = nowMs;
  for (let step = 0; step < 40; step++) {
    await pace.step(async () => {
      nowMs += 0.125;
    });
  }
  expect(pauses.length).toBeLessThanOrEqual(5);
  expect(nowMs - startMs).toBeLessThan(12);
});
