import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import {
  MINUTE_MS,
  range,
  startFeed,
  TRANSPORTS,
  UNAVAILABLE,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

describe('[F-10] every interval is delivered once, in order,', () => {
  test.each(TRANSPORTS)('from the last second on, by %s', async (transport) => {
    const { machine, fixture, intervals, states, feed } = startFeed({ transport });
    const first = fixture.current - 4;
    await machine.advance(30_000);
    expect(intervals).toEqual(range(first, intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(fixture.current - 3);
    expect(states).toEqual(['live']);
    expect(feed.next).toBe((intervals.at(-1) ?? 0) + 1);
  });

  test.each(TRANSPORTS)('across an outage, by %s', async (transport) => {
    const { machine, fixture, intervals, states, gaps } = startFeed({ transport });
    await machine.advance(5_000);
    fixture.error = UNAVAILABLE;
    fixture.endStreams('break');
    await machine.advance(40_000);
    expect(states).toEqual(['live', 'offline: The service is unavailable.']);
    fixture.error = null;
    await machine.advance(MINUTE_MS);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(fixture.current - 4);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(gaps).toEqual([]);
  });

  test.each(TRANSPORTS)('across a sleep that broke the connection, by %s', async (transport) => {
    const { machine, fixture, intervals } = startFeed({ transport });
    await machine.advance(5_000);
    fixture.stallStreams();
    await machine.sleep(30_000);
    await machine.advance(40_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(fixture.current - 4);
  });

  test('when responses are late and out of order', async () => {
    const { machine, fixture, intervals } = startFeed({ transport: 'poll' });
    const random = seededRandom(3);
    for (let step = 0; step < 200; step++) {
      fixture.delayMs = random() * 1_500;
      await machine.advance(100);
    }
    expect(intervals.length).toBeGreaterThan(60);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
  });

  test.each(TRANSPORTS)('and no more requests are sent after `stop`, by %s', async (transport) => {
    const { machine, fixture, feed, intervals } = startFeed({ transport });
    await machine.advance(5_000);
    feed.stop();
    await machine.settle();
    const before = [intervals.length, fixture.requests.length];
    await machine.advance(30_000);
    expect([intervals.length, fixture.requests.length]).toEqual(before);
    // The timer of the fixture.
    expect(machine.pendingTimers).toBe(1);
    expect(fixture.openStreams).toBe(0);
  });
});

test.each(TRANSPORTS)(
  '`stop` while the service is unavailable leaves no timers, by %s',
  async (transport) => {
    const { machine, fixture, feed } = startFeed({ transport });
    fixture.error = UNAVAILABLE;
    await machine.advance(5_000);
    feed.stop();
    expect(machine.pendingTimers).toBe(1);
  },
);

describe('a gap that is too long is skipped', () => {
  test.each(TRANSPORTS)('after an outage, and reported once, by %s', async (transport) => {
    const { machine, fixture, intervals, gaps } = startFeed({ transport, catchUpMs: 20_000 });
    await machine.advance(5_000);
    fixture.error = UNAVAILABLE;
    fixture.endStreams('break');
    await machine.advance(MINUTE_MS);
    const lastMissed = intervals.at(-1) ?? 0;
    fixture.error = null;
    await machine.advance(MINUTE_MS);
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
    const { machine, fixture, intervals, gaps, clock, listener } = startFeed({ catchUpMs: 20_000 });
    await machine.advance(5_000);
    fixture.endStreams('break');
    clock.offMs = -3_600_000;
    await machine.sleep(3_600_000);
    const before = intervals.length;
    listener.onInterval = () => {
      if (intervals.length === before + 100) clock.offMs = 0;
    };
    await machine.advance(10_000);
    expect(gaps.length).toBeGreaterThan(0);
    expect(intervals.at(-1)).toBe(fixture.current - 1);
    const missed = gaps.flatMap(([from, to]) => range(from, to));
    expect([...intervals, ...missed].sort((a, b) => a - b)).toEqual(
      range(intervals[0], intervals.at(-1)),
    );
  });

  test('but empty intervals that an event stream omits are no gap [F-23]', async () => {
    const { machine, fixture, intervals, gaps } = startFeed();
    await machine.advance(1_000);
    fixture.skip(3);
    await machine.advance(2_000);
    expect(gaps).toEqual([]);
    expect(intervals.at(-1)).toBe(fixture.current - 1);
  });
});

test('intervals of an outage before the first delivered one are no gap', async () => {
  const { machine, fixture, intervals, gaps } = startFeed();
  fixture.error = UNAVAILABLE;
  await machine.advance(3 * MINUTE_MS);
  fixture.error = null;
  await machine.advance(20_000);
  expect(gaps).toEqual([]);
  expect(intervals[0]).toBeGreaterThan(intervalAt(machine.nowMs - 25_000));
});
