import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { SlowMode } from '../../../server/domains/chat/slow-mode.ts';

const NOW_MS = 1_750_000_000_000;

/** The tests of every `SlowMode`. Stream ids are random, so that they can share a Redis server. */
export function slowModeContract(name: string, createSlowMode: () => SlowMode): void {
  /** @returns a function that takes a slot at `atMs`; 0: taken, otherwise the ms to wait */
  const setUp = () => {
    const slowMode = createSlowMode();
    const streamId = randomUUID();
    return (atMs: number, periodMs: number, seat = 1, stream = streamId) =>
      slowMode.take({ streamId: stream, seat, periodMs, nowMs: NOW_MS + atMs });
  };

  describe(`slow mode: ${name}`, () => {
    test('[C-15] grants a slot one period after the last, or returns the wait', async () => {
      const take = setUp();
      expect(await take(0, 1_000)).toBe(0);
      expect(await take(1, 1_000)).toBe(999);
      expect(await take(999, 1_000)).toBe(1);
      expect(await take(1_000, 1_000)).toBe(0);
      expect(await take(1_999, 1_000)).toBe(1);
    });

    test('[C-15] keeps a separate slot for each viewer in each stream', async () => {
      const take = setUp();
      expect(await take(0, 1_000)).toBe(0);
      expect(await take(0, 1_000, 2)).toBe(0);
      expect(await take(0, 1_000, 1, randomUUID())).toBe(0);
      expect(await take(500, 1_000, 2)).toBe(500);
    });

    test('[C-15] applies the period of the request to the last slot', async () => {
      const take = setUp();
      expect(await take(0, 60_000)).toBe(0);
      expect(await take(2_000, 10_000)).toBe(8_000);
      expect(await take(2_000, 2_000)).toBe(0);
      expect(await take(3_000, 60_000)).toBe(59_000);
    });

    test('[C-15] remembers the last slot when the period becomes longer', async () => {
      const take = setUp();
      expect(await take(0, 1)).toBe(0);
      // Redis expires keys by its own clock: wait longer than the first period.
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
