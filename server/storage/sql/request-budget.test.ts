import { afterEach, beforeEach, expect, test } from 'bun:test';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import { startCallTime, untilBudgetEnds, withinBudget } from './request-budget.ts';

let nowMs: number;
beforeEach(() => {
  nowMs = 5_000;
  replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
});
afterEach(() => replaceRuntime(SYSTEM_RUNTIME));

/** A call that takes this long. @returns its time limit */
async function call(ms: number): Promise<number> {
  const { limitMs, end } = startCallTime();
  await Promise.resolve();
  nowMs += ms;
  end();
  return limitMs;
}

test('[I-7] [R-15] the calls of a request have the time of one, whatever is between them', async () => {
  const limits = await withinBudget(async () => {
    const first = await call(300);
    nowMs += 4_000;
    return [first, await call(450), await call(100), await call(0)];
  });
  expect(limits).toEqual([800, 500, 50, 0]);
});

test('[R-15] concurrent requests have budgets of their own, and calls without a request have the whole time', async () => {
  const limits = await Promise.all([
    withinBudget(async () => [await call(300), await call(10)]),
    withinBudget(async () => [await call(20), startCallTime().limitMs <= 800]),
  ]);
  expect(limits.map(([first]) => first)).toEqual([800, 800]);
  expect([await call(500), await call(0)]).toEqual([800, 800]);
});

test('[R-15] work that goes on after the response has the whole time', async () => {
  let later = Promise.resolve(0);
  const responded = Promise.withResolvers<void>();
  await withinBudget(async () => {
    await call(700);
    later = responded.promise.then(() => call(0));
  });
  responded.resolve();
  expect(await later).toBe(800);
});

test('[R-15] a request that waits for a batch ends with the time of one call', async () => {
  const timers: { run: () => void; delayMs: number }[] = [];
  const setTimeout = (run: () => void, delayMs: number) => {
    timers.push({ run, delayMs });
    return {} as Timer;
  };
  const clearTimer = () => {};
  const monotonicMs = () => nowMs;
  replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs, setTimeout, clearTimer });
  nowMs += 500;
  const late = untilBudgetEnds(5_000, new Promise(() => {}));
  expect(await untilBudgetEnds(5_000, Promise.resolve('stored'))).toBe('stored');
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([300, 300]);
  timers[0]?.run();
  expect(await late.catch((error: Error) => error.name)).toBe('Unavailable');
});
