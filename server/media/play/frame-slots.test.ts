import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { nextSlot } from './frame-slots.ts';

const rates = fc.constantFrom(5, 15, 24, 25, 30, 60);
const times = fc.double({ min: 1.7e12, max: 1.9e12, noNaN: true });

test('[M-45] no frame is handed over more than half a frame after the moment that it shows', () => {
  fc.assert(
    fc.property(rates, times, fc.integer({ min: -200, max: 200 }), (rate, nowMs, unavailable) => {
      const last = Math.round((nowMs * rate) / 1_000) + unavailable;
      const { slot, slotMs, waitMs, skipped } = nextSlot(last, nowMs, rate);
      expect(slot).toBe(last + 1 + skipped);
      expect(skipped).toBeGreaterThanOrEqual(0);
      expect(Math.abs(slotMs - (slot * 1_000) / rate)).toBeLessThanOrEqual(0.5);
      // Half a frame, and what rounding to whole ms adds.
      expect(nowMs - slotMs).toBeLessThanOrEqual(500 / rate + 1);
      expect(waitMs).toBe(Math.max(0, slotMs - nowMs));
    }),
  );
});

test('[M-45] frames are left out only when their time has passed', () => {
  expect(nextSlot(null, 1_000_010, 25)).toMatchObject({ slotMs: 1_000_000, skipped: 0, waitMs: 0 });
  expect(nextSlot(25_000, 1_000_019, 25)).toMatchObject({ slotMs: 1_000_040, skipped: 0 });
  expect(nextSlot(25_000, 1_000_059, 25)).toMatchObject({ slotMs: 1_000_040, waitMs: 0 });
  expect(nextSlot(25_000, 1_000_200, 25)).toMatchObject({ slotMs: 1_000_200, skipped: 4 });
  // A clock that was set back: it waits, and shows no moment twice.
  expect(nextSlot(25_000, 999_000, 25)).toMatchObject({ slotMs: 1_000_040, waitMs: 1_040 });
});
