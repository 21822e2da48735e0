import { LRUCache } from 'lru-cache';
import type { SlowMode } from './slow-mode.ts';

// Those who wrote longest ago are forgotten first.
const VIEWERS_MAX = 100_000;

/** Turns of viewers in the memory of this process. @param viewersMax so many are remembered */
export function createMemorySlowMode(viewersMax = VIEWERS_MAX): SlowMode {
  const written = new LRUCache<string, number>({ max: viewersMax });
  return {
    take({ streamId, seat, everyMs, nowMs }) {
      const viewer = `${streamId}:${seat}`;
      const last = written.get(viewer);
      const waitMs = last === undefined ? 0 : last + everyMs - nowMs;
      if (waitMs > 0) return waitMs;
      written.set(viewer, nowMs);
      return 0;
    },
  };
}
