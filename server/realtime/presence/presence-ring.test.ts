import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SEATS_MAX } from '../../../protocol/limits.ts';
import { rounds } from '../../../test/support/full-run.ts';
import { BLOCK_SEATS, PresenceRing, type SeatBlock } from './presence-ring.ts';

const NOW = 6_800_000_000;

describe('a registration', () => {
  test('[V-3] counts in its interval and the four after it, and in no other', () => {
    for (let phase = 0; phase < 5; phase += 1) {
      const ring = new PresenceRing();
      ring.register(7, NOW + phase);
      const counts = [0, 1, 2, 3, 4, 5, 6].map((later) => ring.count(NOW + phase + later));
      expect(counts).toEqual([1, 1, 1, 1, 1, 0, 0]);
    }
  });

  test('[V-5] counts once, however often it is repeated', () => {
    const ring = new PresenceRing();
    for (let beat = 0; beat < 40; beat += 1) {
      ring.register(3, NOW + beat);
      ring.register(3, NOW + beat);
      expect(ring.count(NOW + beat)).toBe(1);
    }
    expect(ring.count(NOW + 39 + 4)).toBe(1);
    expect(ring.count(NOW + 39 + 5)).toBe(0);
  });

  test('[V-5] counts its own seat only', () => {
    const ring = new PresenceRing();
    for (const seat of [0, 31, 32, 63, 5_000]) ring.register(seat, NOW);
    expect(ring.count(NOW)).toBe(5);
    for (const seat of [0, 31, 32, 63, 5_000]) expect(ring.isPresent(seat, NOW)).toBe(true);
    for (const seat of [1, 30, 33, 62, 64, 4_999, 5_001, SEATS_MAX - 1]) {
      expect(ring.isPresent(seat, NOW)).toBe(false);
    }
  });

  test('[V-3] expires when time moves by many intervals', () => {
    const ring = new PresenceRing();
    for (let seat = 0; seat < 1_000; seat += 1) ring.register(seat, NOW);
    expect(ring.count(NOW + 1_000_000)).toBe(0);
    ring.register(5, NOW + 1_000_001);
    expect(ring.count(NOW + 1_000_001)).toBe(1);
    expect(ring.isPresent(6, NOW + 1_000_001)).toBe(false);
  });

  test('[F-26] is in the count at the end of an interval, also when the next one has begun', () => {
    const ring = new PresenceRing();
    ring.register(1, NOW);
    ring.register(2, NOW + 2);
    expect(ring.countAtEndOf(NOW + 2)).toBe(2);
    ring.register(3, NOW + 5);
    expect(ring.countAtEndOf(NOW + 4)).toBe(2);
    expect(ring.count(NOW + 5)).toBe(2);
  });

  test('[F-26] is in the count at the end of each interval whose window contains it', () => {
    const beats = fc.array(fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 40 })), { maxLength: 60 });
    fc.assert(
      fc.property(beats, (steps) => {
        const ring = new PresenceRing();
        const last = new Map<number, number>();
        let interval = NOW;
        for (const [passed, seat] of steps) {
          const before = new Map(last);
          interval += passed;
          ring.register(seat, interval);
          last.set(seat, interval);
          const present = [...before.values()].filter((at) => at >= interval - 1 - 4);
          if (passed > 0) expect(ring.countAtEndOf(interval - 1)).toBe(present.length);
        }
      }),
    );
  });

  test('[C-19] stops counting when its seat is evicted, and does not expire again', () => {
    const ring = new PresenceRing();
    for (const seat of [1, 2, 40]) ring.register(seat, NOW);
    ring.register(2, NOW + 1);
    for (const seat of [2, 3, 5_000]) ring.evict(seat, NOW + 2);
    ring.evict(2, NOW + 2);
    expect([ring.count(NOW + 2), ring.seatsIn(NOW), ring.seatsIn(NOW + 1)]).toEqual([2, 2, 0]);
    expect(ring.blocksOf(NOW).flatMap(seatsOf)).toEqual([1, 40]);
    ring.register(2, NOW + 3);
    expect([3, 4, 5, 7, 8].map((later) => ring.count(NOW + later))).toEqual([3, 3, 1, 1, 0]);
  });

  test('counts in the newest interval when its own has passed', () => {
    const ring = new PresenceRing();
    ring.register(1, NOW);
    ring.register(2, NOW - 3);
    expect(ring.count(NOW - 100)).toBe(2);
    expect(ring.count(NOW + 4)).toBe(2);
    expect(ring.count(NOW + 5)).toBe(0);
  });
});

describe('the seats of a ring', () => {
  test('are counted bit by bit within a word', () => {
    fc.assert(
      fc.property(fc.subarray(Array.from({ length: 32 }, (_, seat) => seat)), (stayed) => {
        const ring = new PresenceRing();
        for (let seat = 0; seat < 32; seat += 1) ring.register(seat, NOW);
        expect(ring.count(NOW)).toBe(32);
        for (const seat of stayed) ring.register(seat, NOW + 4);
        expect(ring.count(NOW + 4)).toBe(32);
        expect(ring.count(NOW + 5)).toBe(stayed.length);
      }),
    );
  });

  test('[L-13] are limited by maxSeats', () => {
    const ring = new PresenceRing(1_000);
    ring.register(999, NOW);
    expect(ring.count(NOW)).toBe(1);
    for (const seat of [1_000, -1, 0.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY]) {
      expect(() => ring.register(seat, NOW)).toThrow(RangeError);
    }
    expect(ring.count(NOW)).toBe(1);
  });

  test('[L-13] are 16,777,216 by default', () => {
    expect(SEATS_MAX).toBe(16_777_216);
    const ring = new PresenceRing();
    ring.register(SEATS_MAX - 1, NOW);
    expect(ring.isPresent(SEATS_MAX - 1, NOW)).toBe(true);
    expect(() => ring.register(SEATS_MAX, NOW)).toThrow(RangeError);
  });

  test('remain counted when the ring grows', () => {
    const ring = new PresenceRing();
    for (let seat = 1; seat < SEATS_MAX; seat *= 4) ring.register(seat, NOW);
    expect(ring.count(NOW)).toBe(12);
    expect(ring.isPresent(1, NOW)).toBe(true);
    expect(ring.count(NOW + 5)).toBe(0);
  });
});

describe('the bitset of an interval', () => {
  test('contains its seats by block, each up to the last word with a bit', () => {
    const ring = new PresenceRing();
    const seats = [0, 9, 31, 40, BLOCK_SEATS - 1, 3 * BLOCK_SEATS + 7, SEATS_MAX - 1];
    for (const seat of seats) ring.register(seat, NOW);
    const blocks = ring.blocksOf(NOW);
    expect(blocks.map(({ block, seats, bytes }) => [block, seats, bytes.length])).toEqual([
      [0, 5, BLOCK_SEATS / 8],
      [3, 1, 4],
      [15, 1, BLOCK_SEATS / 8],
    ]);
    expect(blocks.flatMap(seatsOf)).toEqual(seats);
  });

  test('is available for the five live intervals, and for no other', () => {
    const ring = new PresenceRing();
    for (let interval = NOW; interval < NOW + 8; interval += 1)
      ring.register(interval % 8, interval);
    const live = Array.from({ length: 12 }, (_, n) => NOW - 2 + n).filter(
      (interval) => ring.seatsIn(interval) === 1 && ring.blocksOf(interval).length === 1,
    );
    expect(live).toEqual([NOW + 3, NOW + 4, NOW + 5, NOW + 6, NOW + 7]);
    expect(ring.blocksOf(NOW + 8)).toEqual([]);
  });

  test('does not change with later registrations', () => {
    const ring = new PresenceRing();
    ring.register(1, NOW);
    const [before] = ring.blocksOf(NOW);
    ring.register(2, NOW);
    expect(before && seatsOf(before)).toEqual([1]);
    expect(ring.blocksOf(NOW).flatMap(seatsOf)).toEqual([1, 2]);
  });
});

function seatsOf({ block, bytes }: SeatBlock): number[] {
  const found: number[] = [];
  for (let seat = 0; seat < bytes.length * 8; seat += 1) {
    if (((bytes[seat >>> 3] as number) & (1 << (seat & 7))) !== 0) found.push(seat);
  }
  return found.map((seat) => block * BLOCK_SEATS + seat);
}

/** Low seats share words; high seats make the ring grow. */
const seat = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 70 }) },
  { weight: 1, arbitrary: fc.nat({ max: 99_999 }) },
);
/** Intervals from one beat to the next: mostly few, sometimes many, sometimes negative. */
const passed = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.integer({ min: 4, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: 7, max: 1_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -6, max: -1 }) },
);

test('[I-5] a ring counts the distinct seats of five intervals, as a map of last registrations does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ seats: fc.array(seat, { maxLength: 8 }), passed }), {
        maxLength: 100,
        size: 'max',
      }),
      (beats) => {
        const ring = new PresenceRing(100_000);
        const lastIntervals = new Map<number, number>();
        const byInterval = new Map<number, Set<number>>();
        const isLive = (seat: number, interval: number) =>
          (lastIntervals.get(seat) ?? Number.NEGATIVE_INFINITY) >= interval - 4;
        let newest = NOW;
        ring.count(newest);
        for (const beat of beats) {
          const interval = newest + beat.passed;
          newest = Math.max(newest, interval);
          for (const seat of beat.seats) {
            ring.register(seat, interval);
            lastIntervals.set(seat, newest);
            byInterval.set(newest, (byInterval.get(newest) ?? new Set()).add(seat));
          }
          const live = [...lastIntervals.keys()].filter((seat) => isLive(seat, newest));
          expect(ring.count(interval)).toBe(live.length);
          for (let past = newest - 4; past <= newest; past += 1) {
            const expected = [...(byInterval.get(past) ?? [])].sort((a, b) => a - b);
            expect(ring.blocksOf(past).flatMap(seatsOf)).toEqual(expected);
            expect(ring.seatsIn(past)).toBe(expected.length);
          }
          for (const seat of [...beat.seats, 0, 31, 64]) {
            expect(ring.isPresent(seat, interval)).toBe(isLive(seat, newest));
          }
        }
      },
    ),
    { numRuns: rounds(100, 300) },
  );
});
