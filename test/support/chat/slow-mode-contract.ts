import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { SlowMode } from '../../../server/domains/chat/slow-mode.ts';

const NOW_MS = 1_750_000_000_000;

/** The tests that every `SlowMode` passes. Stream ids are random, so implementations may share a server. */
export function slowModeContract(name: string, createSlowMode: () => SlowMode): void {
  const setUp = () => {
    const slowMode = createSlowMode();
    const streamId = randomUUID();
    return (atMs: number, periodMs: number, seat = 1, stream = streamId) =>
      slowMode.take({ streamId: stream, seat, periodMs, nowMs: NOW_MS + atMs });
  };

  describe(`slow mode: ${name}`, () => {
    test('[C-15] grants a slot only after the period since the last one', async () => {
      const take = setUp();
      expect(await take(0, 1_000)).toBe(0);
      expect(await take(1, 1_000)).toBe(999);
      expect(await take(999, 1_000)).toBe(1);
      expect(await take(1_000, 1_000)).toBe(0);
      expect(await take(1_999, 1_000)).toBe(1);
    });

    test(`[C-15] slow mode: ${name} counts slots by viewer and stream`, async () => {
      const take = setUp();
      expect(await take(0, 1_000)).toBe(0);
      expect(await take(0, 1_000, 2)).toBe(0);
      expect(await take(0, 1_000, 1, randomUUID())).toBe(0);
      expect(await take(500, 1_000, 2)).toBe(500);
    });

    test(`[C-15] slow mode: ${name} uses the current period`, async () => {
      const take = setUp();
      expect(await take(0, 60_000)).toBe(0);
      expect(await take(2_000, 10_000)).toBe(8_000);
      expect(await take(2_000, 2_000)).toBe(0);
      expect(await take(3_000, 60_000)).toBe(59_000);
    });

    test('[C-15] remembers the last slot when the period becomes longer', async () => {
      const take = setUp();
      expect(await take(0, 1)).toBe(0);
      // Redis expires keys by its own clock.
      await Bun.sleep(20);
      expect(await take(20, 300_000)).toBe(299_980);
    });

    test('[C-15] grants one slot to concurrent requests', async () => {
      const take = setUp();
      const waitsMs = await Promise.all(Array.from({ length: 8 }, () => take(0, 5_000)));
      expect(waitsMs.filter((waitMs) => waitMs === 0)).toHaveLength(1);
    });
  });
}
