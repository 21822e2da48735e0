import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ServiceTime } from './service-time.ts';

// Small times: current Unix times have a precision of 0.0002 ms, an error that adds up over many steps.
const START_MS = 1_700_000_000;

const probes = fc.array(
  fc.record({
    passedMs: fc.double({ min: 0, max: 3_000, noNaN: true }),
    outMs: fc.double({ min: 0, max: 200, noNaN: true }),
    backMs: fc.double({ min: 0, max: 200, noNaN: true }),
    pace: fc.double({ min: 0.99, max: 1.01, noNaN: true }),
  }),
  { minLength: 1, maxLength: 40 },
);

test('[K-5] ServiceTime bounds contain the true time for any slew of the clock', () => {
  fc.assert(
    fc.property(probes, fc.double({ min: 0, max: 500, noNaN: true }), (steps, laterMs) => {
      const time = new ServiceTime();
      let localMs = 10;
      let serviceMs = START_MS;
      const pass = (ms: number, pace: number) => {
        localMs += ms;
        serviceMs += ms * pace;
      };
      for (const { passedMs, outMs, backMs, pace } of steps) {
        pass(passedMs, pace);
        const sentMs = localMs;
        pass(outMs, pace);
        const nowMs = Math.floor(serviceMs);
        pass(backMs, pace);
        expect(time.update({ sentMs, receivedMs: localMs, nowMs })).toBe(true);
        pass(laterMs, pace);
        expect(time.earliestMs(localMs)).toBeLessThanOrEqual(serviceMs + 1e-3);
        expect(time.latestMs(localMs)).toBeGreaterThanOrEqual(serviceMs - 1e-3);
      }
    }),
  );
});

test('ServiceTime bounds are narrowed by a fast probe after a slow one', () => {
  const time = new ServiceTime();
  time.update({ sentMs: 0, receivedMs: 400, nowMs: START_MS });
  time.update({ sentMs: 500, receivedMs: 502, nowMs: START_MS + 400 });
  expect(time.latestMs(502) - time.earliestMs(502)).toBeLessThanOrEqual(4);
  time.update({ sentMs: 600, receivedMs: 900, nowMs: START_MS + 600 });
  expect(time.latestMs(900) - time.earliestMs(900)).toBeLessThanOrEqual(14);
  expect(time.localMs(time.estimateMs(900))).toBeCloseTo(900, 3);
});

test('ServiceTime detects a clock step by a contradicting probe and starts over', () => {
  const time = new ServiceTime();
  time.update({ sentMs: 0, receivedMs: 2, nowMs: START_MS });
  expect(time.update({ sentMs: 1_000, receivedMs: 1_002, nowMs: START_MS + 60_000 })).toBe(false);
  expect(Math.abs(time.estimateMs(1_002) - START_MS - 60_001)).toBeLessThanOrEqual(2);
});
