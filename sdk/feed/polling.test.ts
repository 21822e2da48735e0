import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS } from '../../protocol/interval.ts';
import { FakeMachine } from '../../test/support/sdk/fake-environment.ts';
import { FeedFixture } from '../../test/support/sdk/feed-fixture.ts';
import {
  countRequests,
  createViewerFeed,
  range,
  startFeed,
  UNAVAILABLE,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

describe('polls', () => {
  test('are sent at the end of an interval, plus the clock’s error and a random phase', async () => {
    const machine = new FakeMachine({ random: seededRandom(1) });
    const phases = new Set<number>();
    for (let viewer = 0; viewer < 20; viewer++) {
      const fixture = new FeedFixture(machine);
      const { feed } = createViewerFeed({ machine, fixture }, { transport: 'poll' });
      await machine.advance(3_000);
      const afterMs = fixture.requests
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
    const { machine, fixture, clock, intervals, states } = startFeed({ transport: 'poll' });
    clock.offMs = 20_000;
    await machine.advance(5_000);
    expect(clock.resyncs).toBeGreaterThan(0);
    expect(intervals).toEqual([]);
    clock.offMs = 0;
    await machine.advance(20_000);
    expect(states.at(-1)).toBe('live');
    // The first interval was chosen by the wrong time, and is chosen anew.
    expect(intervals[0]).toBeLessThan(fixture.current - 8);
  });

  test.each([
    [1_000, 'live'],
    [2_500, 'catching-up'],
    [4_000, 'catching-up'],
  ])('keep up when each takes %d ms, in the state %s', async (delayMs, state) => {
    const { machine, fixture, intervals, states, gaps } = startFeed({ transport: 'poll' });
    fixture.delayMs = delayMs;
    await machine.advance(60_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    const behindMs = (fixture.current - (intervals.at(-1) ?? 0)) * INTERVAL_MS;
    expect(behindMs).toBeLessThan(delayMs + 1_500);
    expect(states[0]).toBe(state);
    expect(states).not.toContain('offline: no response');
    expect(gaps).toEqual([]);
  });

  test('keep up in a hidden page, whose timers run once a second', async () => {
    const { machine, fixture, intervals, states } = startFeed({ transport: 'poll' });
    await machine.advance(5_000);
    machine.throttlesHiddenPage = true;
    await machine.setHidden(true);
    await machine.advance(60_000);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
    expect((fixture.current - (intervals.at(-1) ?? 0)) * INTERVAL_MS).toBeLessThanOrEqual(2_000);
    expect(states).toEqual(['live']);
  });

  test.each([false, true])(
    'are at most 8 a second after a sleep, also in a hidden page: %p',
    async (isHidden) => {
      const { machine, fixture } = startFeed({ transport: 'poll' });
      await machine.advance(5_000);
      await machine.setHidden(isHidden);
      const before = fixture.requests.length;
      await machine.sleep(10_000, true);
      await machine.advance(10_000);
      const sentMs = fixture.requests.slice(before).map(({ atMs }) => atMs);
      expect(sentMs.length).toBeGreaterThan(70);
      // The ninth is a second after the first, or later.
      const spansMs = sentMs.slice(8).map((atMs, index) => atMs - (sentMs[index] ?? 0));
      expect(Math.min(...spansMs)).toBeGreaterThanOrEqual(1_000);
    },
  );

  test('do not report a single failure that is retried soon', async () => {
    const { machine, fixture, states, intervals } = startFeed({ transport: 'poll' });
    await machine.advance(5_000);
    fixture.error = UNAVAILABLE;
    await machine.advance(250);
    fixture.error = null;
    await machine.advance(5_000);
    expect(states).toEqual(['live']);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
  });
});

describe('polls without a response for 5 s', () => {
  test('make the feed `offline`, and are retried soon although many were in flight', async () => {
    const { machine, fixture, states, intervals } = startFeed({ transport: 'poll' });
    await machine.advance(5_000);
    fixture.isPollUnanswered = true;
    await machine.advance(5_300);
    expect(states).toEqual(['live', 'offline: no response']);
    fixture.isPollUnanswered = false;
    await machine.advance(7_000);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(intervals).toEqual(range(intervals[0], intervals.at(-1)));
  });

  test('are sent one at a time until one succeeds', async () => {
    const { machine, fixture } = startFeed({ transport: 'poll' });
    await machine.advance(5_000);
    fixture.isPollUnanswered = true;
    await machine.advance(6_000);
    const before = countRequests(fixture, 'poll');
    await machine.advance(30_000);
    expect(countRequests(fixture, 'poll') - before).toBeLessThan(7);
  });
});
