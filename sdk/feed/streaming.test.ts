import { describe, expect, test } from 'bun:test';
import {
  countRequests,
  createFeedWorld,
  createViewerFeed,
  MINUTE_MS,
  range,
} from '../../test/support/sdk/feed-simulation.ts';

describe('[F-25] an event stream that ends', () => {
  test('with its token or its node is continued within a second, at the next interval', async () => {
    const world = createFeedWorld();
    const { intervals, states } = createViewerFeed(world);
    await world.machine.advance(10 * MINUTE_MS);
    world.fixture.endStreams('end');
    await world.machine.settle();
    // All streams of a node end together, so reconnecting is delayed at random.
    expect(countRequests(world, 'stream')).toBe(1);
    await world.machine.advance(1_000);
    expect(countRequests(world, 'stream')).toBe(2);
    expect(intervals).toEqual(Array.from(intervals, (_, at) => (intervals[0] ?? 0) + at));
    expect(states).toEqual(['live']);
  });

  test('soon after it started is continued after a backoff', async () => {
    const world = createFeedWorld();
    createViewerFeed(world);
    await world.machine.advance(2_000);
    world.fixture.endStreams('end');
    await world.machine.advance(200);
    expect(countRequests(world, 'stream')).toBe(1);
    await world.machine.advance(1_500);
    expect(countRequests(world, 'stream')).toBe(2);
  });

  test('without closing is detected in 5 s, and replaced', async () => {
    const world = createFeedWorld();
    const { states, intervals } = createViewerFeed(world, { transport: 'stream' });
    await world.machine.advance(20_000);
    world.fixture.stallStreams();
    await world.machine.advance(4_000);
    expect(states).toEqual(['live']);
    await world.machine.advance(3_000);
    expect(states.slice(1, 3)).toEqual(['offline: The feed is silent.', 'catching-up']);
    await world.machine.advance(1_000);
    expect(states.at(-1)).toBe('live');
    expect(intervals).toEqual(range(intervals[0], world.fixture.current - 1));
  });
});

describe('where event streams deliver nothing, the feed is polled', () => {
  test('4 s after the stream started, without a gap', async () => {
    const world = createFeedWorld();
    world.fixture.isBuffering = true;
    const { intervals, states } = createViewerFeed(world);
    await world.machine.advance(2_900);
    expect(intervals).toEqual([]);
    await world.machine.advance(10_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(world.fixture.current - 3);
    expect(states).toEqual(['catching-up', 'live']);
  });

  test('also when a proxy buffers the headers, once a poll succeeds', async () => {
    const world = createFeedWorld();
    world.fixture.isStreamUnanswered = true;
    const { intervals, states } = createViewerFeed(world);
    await world.machine.advance(30_000);
    expect(states).toEqual(['offline: no response', 'live']);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    world.fixture.isStreamUnanswered = false;
    await world.machine.advance(2 * MINUTE_MS);
    expect(world.fixture.openStreams).toBe(1);
    expect(intervals).toEqual(range(intervals[0], world.fixture.current - 1));
  });

  test('while streams are retried less and less often, and used when they deliver', async () => {
    const world = createFeedWorld();
    world.fixture.isBuffering = true;
    const { intervals } = createViewerFeed(world);
    await world.machine.advance(10 * MINUTE_MS);
    expect(countRequests(world, 'stream')).toBeLessThan(9);
    world.fixture.isBuffering = false;
    await world.machine.advance(12 * MINUTE_MS);
    const polls = countRequests(world, 'poll');
    await world.machine.advance(MINUTE_MS);
    expect(countRequests(world, 'poll')).toBe(polls);
    expect(intervals).toEqual(range(intervals[0], world.fixture.current - 1));
    // The timer of the fixture, and that of the stream.
    expect(world.machine.pendingTimers).toBe(2);
  });

  test('but not with the transport `stream`', async () => {
    const world = createFeedWorld();
    world.fixture.isBuffering = true;
    const { states } = createViewerFeed(world, { transport: 'stream' });
    await world.machine.advance(MINUTE_MS);
    expect(countRequests(world, 'poll')).toBe(0);
    expect(states).toEqual(['offline: The feed is silent.']);
  });

  test('but not for long when the service itself delivers nothing', async () => {
    const world = createFeedWorld();
    const { intervals } = createViewerFeed(world);
    await world.machine.advance(20_000);
    world.fixture.isSealingStopped = true;
    await world.machine.advance(30_000);
    expect(countRequests(world, 'poll')).toBeLessThan(15);
    world.fixture.isSealingStopped = false;
    await world.machine.advance(30_000);
    const polls = countRequests(world, 'poll');
    await world.machine.advance(20_000);
    expect(countRequests(world, 'poll')).toBe(polls);
    expect(intervals).toEqual(range(intervals[0], world.fixture.current - 1));
  });
});

test('[F-7] an event stream that is rejected resamples the clock, and continues', async () => {
  const world = createFeedWorld();
  const { clock, states } = createViewerFeed(world, { transport: 'stream' });
  clock.offMs = 20_000;
  await world.machine.advance(5_000);
  expect(clock.resyncs).toBeGreaterThan(0);
  clock.offMs = 0;
  await world.machine.advance(20_000);
  expect(states.at(-1)).toBe('live');
});
