import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS } from '../../protocol/interval.ts';
import { FeedFixture } from '../../test/support/sdk/feed-fixture.ts';
import {
  countRequests,
  createFeedWorld,
  createViewerFeed,
  range,
  UNAVAILABLE,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

describe('polls', () => {
  test('are sent at the end of an interval, plus the clock’s error and a random phase', async () => {
    const world = createFeedWorld(seededRandom(1));
    const phases = new Set<number>();
    for (let viewer = 0; viewer < 20; viewer++) {
      const own = { machine: world.machine, fixture: new FeedFixture(world.machine) };
      const { feed } = createViewerFeed(own, { transport: 'poll' });
      await world.machine.advance(3_000);
      const afterMs = own.fixture.requests
        .slice(-4)
        .map(({ interval, atMs }) => atMs - (interval + 1) * INTERVAL_MS);
      for (const ms of afterMs) {
        expect(ms).toBeGreaterThanOrEqual(20);
        expect(ms).toBeLessThan(20 + INTERVAL_MS + 2);
      }
      phases.add(Math.round((afterMs[0] ?? 0) / 25));
      feed.stop();
    }
    expect(phases.size).toBeGreaterThan(5);
  });

  test('[F-7] that are rejected resample the clock, and continue', async () => {
    const world = createFeedWorld();
    const { clock, intervals, states } = createViewerFeed(world, { transport: 'poll' });
    clock.offMs = 20_000;
    await world.machine.advance(5_000);
    expect(clock.resyncs).toBeGreaterThan(0);
    expect(intervals).toEqual([]);
    clock.offMs = 0;
    await world.machine.advance(20_000);
    expect(states.at(-1)).toBe('live');
    // The first interval was chosen by the wrong time, and is chosen anew.
    expect(intervals[0]).toBeLessThan(world.fixture.current - 8);
  });

  test.each([
    [1_000, 'live'],
    [2_500, 'catching-up'],
    [4_000, 'catching-up'],
  ])('keep up when each takes %d ms, in the state %s', async (delayMs, state) => {
    const world = createFeedWorld();
    world.fixture.delayMs = delayMs;
    const { intervals, states, gaps } = createViewerFeed(world, { transport: 'poll' });
    await world.machine.advance(60_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    const behindMs = (world.fixture.current - (intervals.at(-1) ?? 0)) * INTERVAL_MS;
    expect(behindMs).toBeLessThan(delayMs + 1_500);
    expect(states[0]).toBe(state);
    expect(states).not.toContain('offline: no response');
    expect(gaps).toEqual([]);
  });

  test('do not report a single failure that is retried soon', async () => {
    const world = createFeedWorld();
    const { states, intervals } = createViewerFeed(world, { transport: 'poll' });
    await world.machine.advance(5_000);
    world.fixture.error = UNAVAILABLE;
    await world.machine.advance(250);
    world.fixture.error = null;
    await world.machine.advance(5_000);
    expect(states).toEqual(['live']);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
  });
});

describe('polls without a response for 5 s', () => {
  test('make the feed `offline`, and are retried soon although many were in flight', async () => {
    const world = createFeedWorld();
    const { states, intervals } = createViewerFeed(world, { transport: 'poll' });
    await world.machine.advance(5_000);
    world.fixture.isPollUnanswered = true;
    await world.machine.advance(5_300);
    expect(states).toEqual(['live', 'offline: no response']);
    world.fixture.isPollUnanswered = false;
    await world.machine.advance(7_000);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
  });

  test('are sent one at a time until one succeeds', async () => {
    const world = createFeedWorld();
    createViewerFeed(world, { transport: 'poll' });
    await world.machine.advance(5_000);
    world.fixture.isPollUnanswered = true;
    await world.machine.advance(6_000);
    const before = countRequests(world, 'poll');
    await world.machine.advance(30_000);
    expect(countRequests(world, 'poll') - before).toBeLessThan(7);
  });
});
