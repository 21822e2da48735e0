import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Air, EMPTY_AIR, FLIGHTS_MAX, landed, launched } from './heart-flights.ts';

describe('hearts in the air', () => {
  test('are as many as were sent, while they are few', () => {
    expect(launched(EMPTY_AIR, 3, Math.random).flights).toHaveLength(3);
    expect(launched(EMPTY_AIR, 1, Math.random).flights[0]?.delayMs).toBe(0);
  });

  test('stay as they are when none was sent, or the number is smaller than before', () => {
    const air = launched(EMPTY_AIR, 2, Math.random);
    expect(launched(air, 0, Math.random)).toBe(air);
    expect(launched(air, -40, Math.random)).toBe(air);
  });

  test('are bounded, and each is one of its own, however many are sent and land', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 1e9 }), fc.nat({ max: 5 })));
    fc.assert(
      fc.property(steps, (all) => {
        let air: Air = EMPTY_AIR;
        const ids: number[] = [];
        for (const [sent, landing] of all) {
          const next = launched(air, sent, Math.random);
          ids.push(...next.flights.slice(air.flights.length).map(({ id }) => id));
          expect(next.flights.length).toBeLessThanOrEqual(FLIGHTS_MAX);
          air = landed(next, next.flights.at(-1 - landing)?.id ?? -1);
        }
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test('of one change leave one after another within a second', () => {
    const delays = launched(EMPTY_AIR, 8, () => 0.5).flights.map(({ delayMs }) => delayMs);
    expect(delays).toEqual([...delays].sort((a, b) => a - b));
    expect(delays.at(-1)).toBeLessThan(1_000);
  });
});
