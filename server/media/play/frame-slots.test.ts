import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { nextSlot } from './frame-slots.ts';

const rates = fc.constantFrom(5, 15, 24, 25, 30, 60);
const times = fc.double({ min: 1.7e12, max: 1.9e12, noNaN: true });

test('[M-45] no frame is delivered more than half a frame duration after the time it shows', () => {
  fc.assert(
    fc.property(rates, times, fc.integer({ min: -200, max: 200 }), (rate, nowMs, slotOffset) => {
      const lastSlot = Math.round((nowMs * rate) / 1_000) + slotOffset;
      const { slot, slotMs, waitMs, dropped } = nextSlot(lastSlot, nowMs, rate);
      expect(slot).toBe(lastSlot + 1 + dropped);
      expect(dropped).toBeGreaterThanOrEqual(0);
      expect(Math.abs(slotMs - (slot * 1_000) / rate)).toBeLessThanOrEqual(0.5);
      // Half a frame, plus rounding to whole ms.
      expect(nowMs - slotMs).toBeLessThanOrEqual(500 / rate + 1);
      expect(waitMs).toBe(Math.max(0, slotMs - nowMs));
    }),
  );
});

test('[M-45] frames are dropped only when their time has passed', () => {
  expect(nextSlot(null, 1_000_010, 25)).toMatchObject({ slotMs: 1_000_000, dropped: 0, waitMs: 0 });
  expect(nextSlot(25_000, 1_000_019, 25)).toMatchObject({ slotMs: 1_000_040, dropped: 0 });
  expect(nextSlot(25_000, 1_000_059, 25)).toMatchObject({ slotMs: 1_000_040, waitMs: 0 });
  expect(nextSlot(25_000, 1_000_200, 25)).toMatchObject({ slotMs: 1_000_200, dropped: 4 });
  // After a backward clock step it waits and shows no time twice.
  expect(nextSlot(25_000, 999_000, 25)).toMatchObject({ slotMs: 1_000_040, waitMs: 1_040 });
});
