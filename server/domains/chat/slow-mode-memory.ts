import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { SlowMode } from './slow-mode.ts';

// The viewers who posted longest ago are evicted first.
const VIEWERS_MAX = 100_000;

/** Slow mode in the memory of one process. @param viewersMax the number of viewers that it remembers */
export function createMemorySlowMode(viewersMax = VIEWERS_MAX): SlowMode {
  const lastPostMs = new LRUCache<string, number>(atMostEntries(viewersMax));
  return {
    take({ streamId, seat, periodMs, nowMs }) {
      const viewer = `${streamId}:${seat}`;
      const last = lastPostMs.get(viewer);
      const waitMs = last === undefined ? 0 : last + periodMs - nowMs;
      if (waitMs > 0) return waitMs;
      lastPostMs.set(viewer, nowMs);
      return 0;
    },
  };
}
