import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Patience } from './patience.ts';

const TICK_MS = 25;

test('[N-9] time without an answer adds up, and an answer ends it', () => {
  const patience = new Patience(TICK_MS);
  patience.begin(1_000);
  for (let nowMs = 1_025; nowMs <= 1_250; nowMs += TICK_MS) patience.tick(nowMs);
  expect(patience.waited()).toBe(250);
  patience.answered(1_260);
  expect(patience.waited()).toBe(0);
  patience.tick(1_275);
  expect(patience.waited()).toBe(15);
  expect(patience.passed()).toBe(275);
});

test('[N-9] time in which this process stood still is not the silence of Redis', () => {
  const patience = new Patience(TICK_MS);
  patience.begin(0);
  patience.tick(25);
  patience.tick(5_000);
  expect(patience.waited()).toBe(75);
});

test('never counts more than has passed, nor backwards, and all of it when ticks are on time', () => {
  const step = fc.double({ min: -50, max: 2_000, noNaN: true });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const patience = new Patience(TICK_MS);
      let nowMs = 0;
      let forwardMs = 0;
      let onTimeMs = 0;
      patience.begin(nowMs);
      for (const stepMs of steps) {
        nowMs += stepMs;
        forwardMs += Math.max(0, stepMs);
        onTimeMs += Math.min(Math.max(0, stepMs), 2 * TICK_MS);
        patience.tick(nowMs);
      }
      expect(patience.waited()).toBeLessThanOrEqual(forwardMs + 1e-6);
      expect(patience.waited()).toBeCloseTo(onTimeMs, 6);
    }),
  );
});
