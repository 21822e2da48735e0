import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type ClockReading,
  type ClockReadings,
  estimateAt,
  withReading,
} from './clock-estimate.ts';

// Doubles near 1.8e12 are 0.00024 ms apart.
const ROUNDING_MS = 0.001;
const OFFSET_MS = 1_800_000_000_000;

/** A round trip: how long the request and the answer took, and what passed before it. */
const trip = fc.record({
  thereMs: fc.double({ min: 0, max: 200, noNaN: true }),
  backMs: fc.double({ min: 0, max: 200, noNaN: true }),
  pauseMs: fc.double({ min: 0, max: 5_000, noNaN: true }),
});
type Trip = typeof trip extends fc.Arbitrary<infer T> ? T : never;

/** Reads a clock that is `offsetAt` ahead of the monotonic source, at these round trips. */
function readAll(trips: readonly Trip[], offsetAt: (monotonicMs: number) => number) {
  let nowMs = 1_000;
  return trips.map(({ thereMs, backMs, pauseMs }): ClockReading => {
    const sentMs = nowMs + pauseMs;
    const readMs = sentMs + thereMs;
    nowMs = readMs + backMs;
    return { sentMs, receivedMs: nowMs, serverMs: readMs + offsetAt(readMs) };
  });
}

function known(readings: readonly ClockReading[]): { all: ClockReadings; steppedMs: number[] } {
  const [first, ...rest] = readings as [ClockReading, ...ClockReading[]];
  let all: ClockReadings = [first];
  const steppedMs = rest.map((reading) => {
    const taken = withReading(all, reading);
    all = taken.readings;
    return taken.steppedMs;
  });
  return { all, steppedMs };
}

describe('[N-8] the clock of Redis', () => {
  test('is the reading of the least round trip, in the middle of it', () => {
    const slow = { sentMs: 0, receivedMs: 40, serverMs: 5_030 };
    const fast = { sentMs: 50, receivedMs: 52, serverMs: 5_051 };
    const slowAgain = { sentMs: 60, receivedMs: 90, serverMs: 5_062 };
    const { all, steppedMs } = known([slow, fast, slowAgain]);
    const { offsetMs, errorMs } = estimateAt(all, 90);
    expect(offsetMs).toBe(5_000);
    expect(errorMs).toBeCloseTo(1 + 0.002 + 40 * 0.0005, 9);
    expect(steppedMs).toEqual([0, 0]);
  });

  test('is known to half the round trip, however one-sided the delays, and to the drift since', () => {
    const drift = fc.double({ min: -0.0004, max: 0.0004, noNaN: true });
    fc.assert(
      fc.property(fc.array(trip, { minLength: 1, maxLength: 40 }), drift, (trips, rate) => {
        const offsetAt = (monotonicMs: number) => OFFSET_MS + rate * monotonicMs;
        const readings = readAll(trips, offsetAt);
        const { all, steppedMs } = known(readings);
        const nowMs = (readings.at(-1)?.receivedMs ?? 0) + 500;
        const { offsetMs, errorMs } = estimateAt(all, nowMs);
        expect(Math.abs(offsetMs - offsetAt(nowMs))).toBeLessThanOrEqual(errorMs + ROUNDING_MS);
        expect(steppedMs.every((ms) => ms === 0)).toBe(true);
      }),
    );
  });

  test('is the new one at once when it steps, as after a failover to another machine', () => {
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
        const { all: kept, steppedMs } = known(readings);
        const nowMs = readings.at(-1)?.receivedMs ?? 0;
        const { offsetMs, errorMs } = estimateAt(kept, nowMs);
        expect(Math.abs(offsetMs - OFFSET_MS - stepMs)).toBeLessThanOrEqual(errorMs + ROUNDING_MS);
        const seen = steppedMs.filter((ms) => ms !== 0);
        expect(seen).toHaveLength(1);
        expect(Math.abs((seen[0] ?? 0) - stepMs)).toBeLessThanOrEqual(500);
      }),
    );
  });

  test('is estimated from the last readings alone', () => {
    const readings = readAll(
      Array.from({ length: 100 }, () => ({ thereMs: 1, backMs: 1, pauseMs: 1_000 })),
      () => OFFSET_MS,
    );
    expect(known(readings).all.length).toBeLessThan(20);
  });
});
