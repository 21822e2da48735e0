import { describe, expect, test } from 'bun:test';
import { follow, peak, range, UNAVAILABLE, world } from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import type { Transport } from './feed.ts';

describe('a crowd that lost the service as one does not come back as one', () => {
  const VIEWERS = 60;

  async function crowd(transport: Transport) {
    const here = world(seededRandom(7));
    const viewers = Array.from({ length: VIEWERS }, () => follow(here, { transport }));
    await here.machine.advance(5_000);
    return { here, viewers };
  }

  test.each([20_000, 3_000, 200])(
    'polls: at most twice the usual, after %d ms',
    async (outageMs) => {
      const { here, viewers } = await crowd('poll');
      here.fixture.trouble = UNAVAILABLE;
      await here.machine.advance(outageMs);
      here.fixture.trouble = null;
      const backMs = here.machine.nowMs;
      await here.machine.advance(40_000);
      expect(peak(here, backMs)).toBeLessThanOrEqual(2 * 4 * VIEWERS);
      for (const { told } of viewers) expect(told).toEqual(range(told[0], told.at(-1)));
    },
  );

  test.each([20_000, 3_000, 0])('streams: less than one each, after %d ms', async (outageMs) => {
    const { here, viewers } = await crowd('auto');
    here.fixture.trouble = UNAVAILABLE;
    here.fixture.endStreams('cut');
    await here.machine.advance(outageMs);
    here.fixture.trouble = null;
    const backMs = here.machine.nowMs;
    await here.machine.advance(30_000);
    expect(peak(here, backMs)).toBeLessThanOrEqual(VIEWERS);
    for (const { told } of viewers) expect(told).toEqual(range(told[0], here.fixture.current - 1));
  });

  test('streams that were cut at once begin again over more than a second', async () => {
    const { here } = await crowd('auto');
    here.fixture.endStreams('cut');
    const cutMs = here.machine.nowMs;
    await here.machine.advance(3_000);
    const times = here.fixture.asked.map(({ atMs }) => atMs).filter((atMs) => atMs >= cutMs);
    expect(times).toHaveLength(VIEWERS);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1_000);
  });

  test('streams of a service that seals nothing: one each in a second', async () => {
    const { here } = await crowd('auto');
    here.fixture.isStalled = true;
    const fromMs = here.machine.nowMs;
    await here.machine.advance(15_000);
    here.fixture.isStalled = false;
    await here.machine.advance(20_000);
    expect(peak(here, fromMs)).toBeLessThanOrEqual(VIEWERS);
  });
});
