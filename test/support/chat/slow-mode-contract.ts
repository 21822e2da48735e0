import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { SlowMode } from '../../../server/domains/chat/slow-mode.ts';

const NOW_MS = 1_750_000_000_000;

/** What turns do, wherever they are remembered. Streams are named at random, so that all may share a server. */
export function lineTurnsContract(name: string, makeTurns: () => SlowMode): void {
  const setUp = () => {
    const turns = makeTurns();
    const streamId = randomUUID();
    return (atMs: number, everyMs: number, seat = 1, stream = streamId) =>
      turns.take({ streamId: stream, seat, everyMs, nowMs: NOW_MS + atMs });
  };

  describe(`turns: ${name}`, () => {
    test('[C-15] come so long after the last that was taken', async () => {
      const take = setUp();
      expect(await take(0, 1_000)).toBe(0);
      expect(await take(1, 1_000)).toBe(999);
      expect(await take(999, 1_000)).toBe(1);
      expect(await take(1_000, 1_000)).toBe(0);
      expect(await take(1_999, 1_000)).toBe(1);
    });

    test('[C-15] are each viewer’s own, in each stream', async () => {
      const take = setUp();
      expect(await take(0, 1_000)).toBe(0);
      expect(await take(0, 1_000, 2)).toBe(0);
      expect(await take(0, 1_000, 1, randomUUID())).toBe(0);
      expect(await take(500, 1_000, 2)).toBe(500);
    });

    test('[C-15] go by the time that holds now', async () => {
      const take = setUp();
      expect(await take(0, 60_000)).toBe(0);
      expect(await take(2_000, 10_000)).toBe(8_000);
      expect(await take(2_000, 2_000)).toBe(0);
      expect(await take(3_000, 60_000)).toBe(59_000);
    });

    test('[C-15] are remembered for a chat that is slowed down further', async () => {
      const take = setUp();
      expect(await take(0, 1)).toBe(0);
      // Servers that remember forget by their own clock.
      await Bun.sleep(20);
      expect(await take(20, 300_000)).toBe(299_980);
    });

    test('[C-15] of one moment are one turn', async () => {
      const take = setUp();
      const told = await Promise.all(Array.from({ length: 8 }, () => take(0, 5_000)));
      expect(told.filter((waitMs) => waitMs === 0)).toHaveLength(1);
    });
  });
}
