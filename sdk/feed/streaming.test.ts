import { describe, expect, test } from 'bun:test';
import {
  countRequests,
  MINUTE_MS,
  range,
  startFeed,
} from '../../test/support/sdk/feed-simulation.ts';

describe('[F-25] an event stream that ends', () => {
  test('with its token or its node is continued within a second, at the next interval', async () => {
    const { machine, fixture, intervals, states } = startFeed();
    await machine.advance(10 * MINUTE_MS);
    fixture.endStreams('end');
    await machine.settle();
    // All streams of a node end together, so reconnecting is delayed at random.
    expect(countRequests(fixture, 'stream')).toBe(1);
    await machine.advance(1_000);
    expect(countRequests(fixture, 'stream')).toBe(2);
    expect(intervals).toEqual(Array.from(intervals, (_, at) => (intervals[0] ?? 0) + at));
    expect(states).toEqual(['live']);
  });

  test('soon after it started is continued after a backoff', async () => {
    const { machine, fixture } = startFeed();
    await machine.advance(2_000);
    fixture.endStreams('end');
    await machine.advance(200);
    expect(countRequests(fixture, 'stream')).toBe(1);
    await machine.advance(1_500);
    expect(countRequests(fixture, 'stream')).toBe(2);
  });

  test('without closing is detected in 5 s, and replaced', async () => {
    const { machine, fixture, states, intervals } = startFeed({ transport: 'stream' });
    await machine.advance(20_000);
    fixture.stallStreams();
    await machine.advance(4_000);
    expect(states).toEqual(['live']);
    await machine.advance(3_000);
    expect(states.slice(1, 3)).toEqual(['offline: Feed is silent.', 'catching-up']);
    await machine.advance(1_000);
    expect(states.at(-1)).toBe('live');
    expect(intervals).toEqual(range(intervals[0], fixture.current - 1));
  });
});

describe('where event streams deliver nothing, the feed is polled', () => {
  test('4 s after the stream started, without a gap', async () => {
    const { machine, fixture, intervals, states } = startFeed();
    fixture.isBuffering = true;
    await machine.advance(2_900);
    expect(intervals).toEqual([]);
    await machine.advance(10_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect(intervals.at(-1)).toBeGreaterThan(fixture.current - 3);
    expect(states).toEqual(['catching-up', 'live']);
  });

  test('also when a proxy buffers the headers, once a poll succeeds', async () => {
    const { machine, fixture, intervals, states } = startFeed();
    fixture.isStreamUnanswered = true;
    await machine.advance(30_000);
    expect(states).toEqual(['offline: no response', 'live']);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    fixture.isStreamUnanswered = false;
    await machine.advance(2 * MINUTE_MS);
    expect(fixture.openStreams).toBe(1);
    expect(intervals).toEqual(range(intervals[0], fixture.current - 1));
  });

  test('while streams are retried less and less often, and used when they deliver', async () => {
    const { machine, fixture, intervals } = startFeed();
    fixture.isBuffering = true;
    await machine.advance(10 * MINUTE_MS);
    expect(countRequests(fixture, 'stream')).toBeLessThan(9);
    fixture.isBuffering = false;
    await machine.advance(12 * MINUTE_MS);
    const polls = countRequests(fixture, 'poll');
    await machine.advance(MINUTE_MS);
    expect(countRequests(fixture, 'poll')).toBe(polls);
    expect(intervals).toEqual(range(intervals[0], fixture.current - 1));
    // The timer of the fixture, and that of the stream.
    expect(machine.pendingTimers).toBe(2);
  });

  test('but not with the transport `stream`', async () => {
    const { machine, fixture, states } = startFeed({ transport: 'stream' });
    fixture.isBuffering = true;
    await machine.advance(MINUTE_MS);
    expect(countRequests(fixture, 'poll')).toBe(0);
    expect(states).toEqual(['offline: Feed is silent.']);
  });

  test('but not for long when the service itself delivers nothing', async () => {
    const { machine, fixture, intervals } = startFeed();
    await machine.advance(20_000);
    fixture.isSealingStopped = true;
    await machine.advance(30_000);
    expect(countRequests(fixture, 'poll')).toBeLessThan(15);
    fixture.isSealingStopped = false;
    await machine.advance(30_000);
    const polls = countRequests(fixture, 'poll');
    await machine.advance(20_000);
    expect(countRequests(fixture, 'poll')).toBe(polls);
    expect(intervals).toEqual(range(intervals[0], fixture.current - 1));
  });
});

test('[F-7] an event stream that is rejected resamples the clock, and continues', async () => {
  const { machine, clock, states } = startFeed({ transport: 'stream' });
  clock.offMs = 20_000;
  await machine.advance(5_000);
  expect(clock.resyncs).toBeGreaterThan(0);
  clock.offMs = 0;
  await machine.advance(20_000);
  expect(states.at(-1)).toBe('live');
});
