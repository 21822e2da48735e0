import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BLOCK_SEATS, PresenceRing } from './presence-ring.ts';
import { SeatSet } from './seat-set.ts';

const seat = fc.oneof(
  fc.nat({ max: 70 }),
  fc.nat({ max: 5_000 }),
  fc.integer({ min: BLOCK_SEATS - 40, max: BLOCK_SEATS + 40 }),
);
const addition = fc.record({ asBits: fc.boolean(), seats: fc.array(seat, { maxLength: 9 }) });

test('a seat set has the number of distinct seats that were added, singly or as bitsets', () => {
  fc.assert(
    fc.property(fc.array(addition, { maxLength: 20 }), (additions) => {
      const set = new SeatSet();
      const expected = new Set<number>();
      for (const { asBits, seats } of additions) {
        const ring = new PresenceRing();
        for (const seat of seats) {
          expected.add(seat);
          if (asBits) ring.register(seat, 1_000);
          else set.add(seat);
        }
        for (const { block, bytes } of ring.blocksOf(1_000)) {
          set.addBits(block * BLOCK_SEATS, bytes);
        }
        expect(set.size).toBe(expected.size);
      }
    }),
  );
});

test('a seat set accepts bitsets that are not aligned', () => {
  const set = new SeatSet();
  set.addBits(32, new Uint8Array([9, 1, 0, 0, 0, 128, 9]).subarray(1, 6));
  set.add(32);
  expect(set.size).toBe(2);
  set.add(32 + 39);
  expect(set.size).toBe(2);
});
