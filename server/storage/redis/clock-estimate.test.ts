import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addReading, type ClockReading, type ClockReadings, estimateAt } from './clock-estimate.ts';

// Doubles near 1.8e12 are 0.00024 ms apart.
const ROUNDING_MS = 0.001;
const OFFSET_MS = 1_800_000_000_000;

/** A round trip: the durations of request and reply, and the pause before it. */
const trip = fc.record({
  requestMs: fc.double({ min: 0, max: 200, noNaN: true }),
  replyMs: fc.double({ min: 0, max: 200, noNaN: true }),
  pauseMs: fc.double({ min: 0, max: 5_000, noNaN: true }),
});
type Trip = typeof trip extends fc.Arbitrary<infer T> ? T : never;

/** Reads a clock that is `offsetAt` ahead of the monotonic source, in each of these round trips. */
function readAll(trips: readonly Trip[], offsetAt: (monotonicMs: number) => number) {
  let nowMs = 1_000;
  return trips.map(({ requestMs, replyMs, pauseMs }): ClockReading => {
    const sentMs = nowMs + pauseMs;
    const readMs = sentMs + requestMs;
    nowMs = readMs + replyMs;
    return { sentMs, receivedMs: nowMs, serverMs: readMs + offsetAt(readMs) };
  });
}

function addAll(readings: readonly ClockReading[]): { all: ClockReadings; steppedMs: number[] } {
  const [first, ...rest] = readings as [ClockReading, ...ClockReading[]];
  let all: ClockReadings = [first];
  const steppedMs = rest.map((reading) => {
    const added = addReading(all, reading);
    all = added.readings;
    return added.steppedMs;
  });
  return { all, steppedMs };
}

describe('[N-8] the clock of Redis', () => {
  test('the clock of Redis is estimated from the reading with the shortest round trip, at the middle of the trip', () => {
    const slow = { sentMs: 0, receivedMs: 40, serverMs: 5_030 };
    const fast = { sentMs: 50, receivedMs: 52, serverMs: 5_051 };
    const slowAgain = { sentMs: 60, receivedMs: 90, serverMs: 5_062 };
    const { all, steppedMs } = addAll([slow, fast, slowAgain]);
    const { offsetMs, errorMs } = estimateAt(all, 90);
    expect(offsetMs).toBe(5_000);
    // Half the round trip, the resolution, and the drift in 40 ms.
    expect(errorMs).toBeCloseTo(1 + 0.002 + 40 * 0.0005, 9);
    expect(steppedMs).toEqual([0, 0]);
  });

  test('the clock of Redis is known to within half the round trip, however asymmetric, plus the drift since', () => {
    const drift = fc.double({ min: -0.0004, max: 0.0004, noNaN: true });
    fc.assert(
      fc.property(fc.array(trip, { minLength: 1, maxLength: 40 }), drift, (trips, rate) => {
        const offsetAt = (monotonicMs: number) => OFFSET_MS + rate * monotonicMs;
        const readings = readAll(trips, offsetAt);
        const { all, steppedMs } = addAll(readings);
        const nowMs = (readings.at(-1)?.receivedMs ?? 0) + 500;
        const { offsetMs, errorMs } = estimateAt(all, nowMs);
        expect(Math.abs(offsetMs - offsetAt(nowMs))).toBeLessThanOrEqual(errorMs + ROUNDING_MS);
        expect(steppedMs.every((ms) => ms === 0)).toBe(true);
      }),
    );
  });

  test('the clock of Redis is the new clock immediately after a step, as after a failover to another machine', () => {
    const trips = fc.array(trip, { minLength: 1, maxLength: 20 });
    const step = fc.oneof(
      fc.double({ min: -4e6, max: -1_000, noNaN: true }),
      fc.double({ min: 1_000, max: 4e6, noNaN: true }),
    );
    fc.assert(
      fc.property(trips, trips, step, (before, after, stepMs) => {
        const all = readAll([...before, ...after], () => 0);
        const readings = all.map((reading, index) => {
          const offsetMs = OFFSET_MS + (index < before.length ? 0 : stepMs);
          return { ...reading, serverMs: reading.serverMs + offsetMs };
        });
        const { all: recent, steppedMs } = addAll(readings);
        const nowMs = readings.at(-1)?.receivedMs ?? 0;
        const { offsetMs, errorMs } = estimateAt(recent, nowMs);
        expect(Math.abs(offsetMs - OFFSET_MS - stepMs)).toBeLessThanOrEqual(errorMs + ROUNDING_MS);
        const steps = steppedMs.filter((ms) => ms !== 0);
        expect(steps).toHaveLength(1);
        expect(Math.abs((steps[0] ?? 0) - stepMs)).toBeLessThanOrEqual(500);
      }),
    );
  });

  test('the clock of Redis is estimated from the last readings only', () => {
    const readings = readAll(
      Array.from({ length: 100 }, () => ({ requestMs: 1, replyMs: 1, pauseMs: 1_000 })),
      () => OFFSET_MS,
    );
    expect(addAll(readings).all.length).toBeLessThan(20);
  });
});
