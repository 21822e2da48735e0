import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../../test/support/sdk/fake-environment.ts';
import { FeedFixture } from '../../test/support/sdk/feed-fixture.ts';
import {
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
    const machine = new FakeMachine({ random: seededRandom(7) });
    const fixture = new FeedFixture(machine);
    const viewers = Array.from({ length: VIEWERS }, () =>
      createViewerFeed({ machine, fixture }, { transport }),
    );
    await machine.advance(5_000);
    return { machine, fixture, viewers };
  }

  test.each([20_000, 3_000, 200])(
    'polls: at most twice the usual 4 requests a second, after an outage of %d ms',
    async (outageMs) => {
      const { machine, fixture, viewers } = await crowd('poll');
      fixture.error = UNAVAILABLE;
      await machine.advance(outageMs);
      fixture.error = null;
      const backMs = machine.nowMs;
      await machine.advance(40_000);
      expect(peakRequestsPerSecond(fixture, backMs)).toBeLessThanOrEqual(2 * 4 * VIEWERS);
      for (const { intervals } of viewers)
        expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    },
  );

  test.each([20_000, 3_000, 0])(
    'event streams: at most one request per viewer in a second, after an outage of %d ms',
    async (outageMs) => {
      const { machine, fixture, viewers } = await crowd('auto');
      fixture.error = UNAVAILABLE;
      fixture.endStreams('break');
      await machine.advance(outageMs);
      fixture.error = null;
      const backMs = machine.nowMs;
      await machine.advance(30_000);
      expect(peakRequestsPerSecond(fixture, backMs)).toBeLessThanOrEqual(VIEWERS);
      for (const { intervals } of viewers)
        expect(intervals).toEqual(range(intervals[0], fixture.current - 1));
    },
  );

  test('event streams that broke together reconnect over more than a second', async () => {
    const { machine, fixture } = await crowd('auto');
    fixture.endStreams('break');
    const cutMs = machine.nowMs;
    await machine.advance(3_000);
    const times = fixture.requests.map(({ atMs }) => atMs).filter((atMs) => atMs >= cutMs);
    expect(times).toHaveLength(VIEWERS);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1_000);
  });

  test('event streams of a service that seals nothing reconnect at most once a second each', async () => {
    const { machine, fixture } = await crowd('auto');
    fixture.isSealingStopped = true;
    const fromMs = machine.nowMs;
    await machine.advance(15_000);
    fixture.isSealingStopped = false;
    await machine.advance(20_000);
    expect(peakRequestsPerSecond(fixture, fromMs)).toBeLessThanOrEqual(VIEWERS);
  });
});
