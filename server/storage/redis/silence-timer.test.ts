import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SilenceTimer } from './silence-timer.ts';

const TICK_MS = 25;

test('[N-9] the silence timer adds up time without a response, and a response resets it', () => {
  const timer = new SilenceTimer(TICK_MS);
  timer.start(1_000);
  for (let nowMs = 1_025; nowMs <= 1_250; nowMs += TICK_MS) timer.tick(nowMs);
  expect(timer.silentMs()).toBe(250);
  timer.onResponse(1_260);
  expect(timer.silentMs()).toBe(0);
  timer.tick(1_275);
  expect(timer.silentMs()).toBe(15);
  expect(timer.elapsedMs()).toBe(275);
});

test('[N-9] the silence timer does not count time in which this process was stalled', () => {
  const timer = new SilenceTimer(TICK_MS);
  timer.start(0);
  timer.tick(25);
  timer.tick(5_000);
  expect(timer.silentMs()).toBe(75);
});

test('the silence timer never counts more than the elapsed time, and all of it when ticks are on time', () => {
  const step = fc.double({ min: -50, max: 2_000, noNaN: true });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const timer = new SilenceTimer(TICK_MS);
      let nowMs = 0;
      let forwardMs = 0;
      let onTimeMs = 0;
      timer.start(nowMs);
      for (const stepMs of steps) {
        nowMs += stepMs;
        forwardMs += Math.max(0, stepMs);
        onTimeMs += Math.min(Math.max(0, stepMs), 2 * TICK_MS);
        timer.tick(nowMs);
      }
      expect(timer.silentMs()).toBeLessThanOrEqual(forwardMs + 1e-6);
      expect(timer.silentMs()).toBeCloseTo(onTimeMs, 6);
    }),
  );
});
