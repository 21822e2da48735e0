import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import {
  createFeedWorld,
  createViewerFeed,
  MINUTE_MS,
  range,
  TRANSPORTS,
  UNAVAILABLE,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

describe('[F-10] every interval is delivered once, in order,', () => {
  test.each(TRANSPORTS)('from the last second on, by %s', async (transport) => {
    const world = createFeedWorld();
    const first = world.fixture.current - 4;
    const { intervals, states, feed } = createViewerFeed(world, { transport });
    await world.machine.advance(30_000);
    expect(intervals).toEqual(range(first, intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(world.fixture.current - 3);
    expect(states).toEqual(['live']);
    expect(feed.next).toBe((intervals.at(-1) ?? 0) + 1);
  });

  test.each(TRANSPORTS)('across an outage, by %s', async (transport) => {
    const world = createFeedWorld();
    const { intervals, states, gaps } = createViewerFeed(world, { transport });
    await world.machine.advance(5_000);
    world.fixture.error = UNAVAILABLE;
    world.fixture.endStreams('break');
    await world.machine.advance(40_000);
    expect(states).toEqual(['live', 'offline: The service is unavailable.']);
    world.fixture.error = null;
    await world.machine.advance(MINUTE_MS);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(world.fixture.current - 4);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(gaps).toEqual([]);
  });

  test.each(TRANSPORTS)('across a sleep that broke the connection, by %s', async (transport) => {
    const world = createFeedWorld();
    const { intervals } = createViewerFeed(world, { transport });
    await world.machine.advance(5_000);
    world.fixture.stallStreams();
    await world.machine.sleep(30_000);
    await world.machine.advance(40_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(world.fixture.current - 4);
  });

  test('when responses are late and out of order', async () => {
    const world = createFeedWorld();
    const random = seededRandom(3);
    const { intervals } = createViewerFeed(world, { transport: 'poll' });
    for (let step = 0; step < 200; step++) {
      world.fixture.delayMs = random() * 1_500;
      await world.machine.advance(100);
    }
    expect(intervals.length).toBeGreaterThan(60);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
  });

  test.each(TRANSPORTS)('and no more requests are sent after `stop`, by %s', async (transport) => {
    const world = createFeedWorld();
    const { feed, intervals } = createViewerFeed(world, { transport });
    await world.machine.advance(5_000);
    feed.stop();
    await world.machine.settle();
    const before = [intervals.length, world.fixture.requests.length];
    await world.machine.advance(30_000);
    expect([intervals.length, world.fixture.requests.length]).toEqual(before);
    // The timer of the fixture.
    expect(world.machine.pendingTimers).toBe(1);
    expect(world.fixture.openStreams).toBe(0);
  });
});

test.each(TRANSPORTS)(
  '`stop` while the service is unavailable leaves no timers, by %s',
  async (transport) => {
    const world = createFeedWorld();
    world.fixture.error = UNAVAILABLE;
    const { feed } = createViewerFeed(world, { transport });
    await world.machine.advance(5_000);
    feed.stop();
    expect(world.machine.pendingTimers).toBe(1);
  },
);

describe('a gap that is too long is skipped', () => {
  test.each(TRANSPORTS)('after an outage, and reported once, by %s', async (transport) => {
    const world = createFeedWorld();
    const { intervals, gaps } = createViewerFeed(world, { transport, catchUpMs: 20_000 });
    await world.machine.advance(5_000);
    world.fixture.error = UNAVAILABLE;
    world.fixture.endStreams('break');
    await world.machine.advance(MINUTE_MS);
    const lastMissed = intervals.at(-1) ?? 0;
    world.fixture.error = null;
    await world.machine.advance(MINUTE_MS);
    const [from = 0, to = 0] = gaps[0] ?? [];
    expect(gaps).toHaveLength(1);
    expect(from).toBe(lastMissed + 1);
    expect(to - from).toBeGreaterThan(30_000 / INTERVAL_MS);
    expect(intervals).toEqual([
      ...range(intervals[0], from - 1),
      ...range(to + 1, intervals.at(-1)),
    ]);
  });

  test('when the clock detects a sleep during catch-up', async () => {
    const world = createFeedWorld();
    const { intervals, gaps, clock, listener } = createViewerFeed(world, { catchUpMs: 20_000 });
    await world.machine.advance(5_000);
    world.fixture.endStreams('break');
    clock.offMs = -3_600_000;
    await world.machine.sleep(3_600_000);
    const before = intervals.length;
    listener.onInterval = () => {
      if (intervals.length === before + 100) clock.offMs = 0;
    };
    await world.machine.advance(10_000);
    expect(gaps.length).toBeGreaterThan(0);
    expect(intervals.at(-1)).toBe(world.fixture.current - 1);
    const missed = gaps.flatMap(([from, to]) => range(from, to));
    expect([...intervals, ...missed].sort((a, b) => a - b)).toEqual(
      range(intervals[0], intervals.at(-1)),
    );
  });

  test('but empty intervals that an event stream omits are no gap [F-23]', async () => {
    const world = createFeedWorld();
    const { intervals, gaps } = createViewerFeed(world);
    await world.machine.advance(1_000);
    world.fixture.skip(3);
    await world.machine.advance(2_000);
    expect(gaps).toEqual([]);
    expect(intervals.at(-1)).toBe(world.fixture.current - 1);
  });
});

test('intervals before the first one are no gap', async () => {
  const world = createFeedWorld();
  world.fixture.error = UNAVAILABLE;
  const { intervals, gaps } = createViewerFeed(world);
  await world.machine.advance(3 * MINUTE_MS);
  world.fixture.error = null;
  await world.machine.advance(20_000);
  expect(gaps).toEqual([]);
  expect(intervals[0]).toBeGreaterThan(intervalAt(world.machine.nowMs - 25_000));
});
