import { describe, expect, test } from 'bun:test';
import {
  createFeedWorld,
  createViewerFeed,
  peakRequestsPerSecond,
  range,
  UNAVAILABLE,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import type { Transport } from './feed.ts';

describe('a crowd that lost the service together reconnects spread out', () => {
  const VIEWERS = 60;

  async function crowd(transport: Transport) {
    const world = createFeedWorld(seededRandom(7));
    const viewers = Array.from({ length: VIEWERS }, () => createViewerFeed(world, { transport }));
    await world.machine.advance(5_000);
    return { world, viewers };
  }

  test.each([20_000, 3_000, 200])(
    'polls: at most twice the usual rate, after %d ms',
    async (outageMs) => {
      const { world, viewers } = await crowd('poll');
      world.fixture.error = UNAVAILABLE;
      await world.machine.advance(outageMs);
      world.fixture.error = null;
      const backMs = world.machine.nowMs;
      await world.machine.advance(40_000);
      expect(peakRequestsPerSecond(world, backMs)).toBeLessThanOrEqual(2 * 4 * VIEWERS);
      for (const { intervals } of viewers)
        expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    },
  );

  test.each([20_000, 3_000, 0])(
    'event streams: at most one request per viewer in a second, after %d ms',
    async (outageMs) => {
      const { world, viewers } = await crowd('auto');
      world.fixture.error = UNAVAILABLE;
      world.fixture.endStreams('break');
      await world.machine.advance(outageMs);
      world.fixture.error = null;
      const backMs = world.machine.nowMs;
      await world.machine.advance(30_000);
      expect(peakRequestsPerSecond(world, backMs)).toBeLessThanOrEqual(VIEWERS);
      for (const { intervals } of viewers)
        expect(intervals).toEqual(range(intervals[0], world.fixture.current - 1));
    },
  );

  test('event streams that broke together reconnect over more than a second', async () => {
    const { world } = await crowd('auto');
    world.fixture.endStreams('break');
    const cutMs = world.machine.nowMs;
    await world.machine.advance(3_000);
    const times = world.fixture.requests.map(({ atMs }) => atMs).filter((atMs) => atMs >= cutMs);
    expect(times).toHaveLength(VIEWERS);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1_000);
  });

  test('event streams of a service that seals nothing reconnect at most once a second each', async () => {
    const { world } = await crowd('auto');
    world.fixture.isSealingStopped = true;
    const fromMs = world.machine.nowMs;
    await world.machine.advance(15_000);
    world.fixture.isSealingStopped = false;
    await world.machine.advance(20_000);
    expect(peakRequestsPerSecond(world, fromMs)).toBeLessThanOrEqual(VIEWERS);
  });
});
