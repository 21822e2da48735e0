import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS } from '../../protocol/interval.ts';
import { FeedFixture } from '../../test/support/sdk/feed-fixture.ts';
import {
  countBy,
  follow,
  range,
  UNAVAILABLE,
  world,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

describe('polls', () => {
  test('ask for an interval at its end, the clock’s error and a phase of their own later', async () => {
    const here = world(seededRandom(1));
    const phases = new Set<number>();
    for (let viewer = 0; viewer < 20; viewer++) {
      const own = { machine: here.machine, fixture: new FeedFixture(here.machine) };
      const { feed } = follow(own, { transport: 'poll' });
      await here.machine.advance(3_000);
      const afterMs = own.fixture.asked
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

  test('[F-7] that are refused let the clock be looked at, and go on', async () => {
    const here = world();
    const { clock, told, states } = follow(here, { transport: 'poll' });
    clock.offMs = 20_000;
    await here.machine.advance(5_000);
    expect(clock.looks).toBeGreaterThan(0);
    expect(told).toEqual([]);
    clock.offMs = 0;
    await here.machine.advance(20_000);
    expect(states.at(-1)).toBe('live');
    // Where it begins was of the wrong time, and is chosen anew.
    expect(told[0]).toBeLessThan(here.fixture.current - 8);
  });

  test.each([
    [1_000, 'live'],
    [2_500, 'catching-up'],
    [4_000, 'catching-up'],
  ])('keep up where each takes %d ms, and say how it is: %s', async (delayMs, state) => {
    const here = world();
    here.fixture.delayMs = delayMs;
    const { told, states, gaps } = follow(here, { transport: 'poll' });
    await here.machine.advance(60_000);
    expect(told).toEqual(range(told[0], told.at(-1)));
    const behindMs = (here.fixture.current - (told.at(-1) ?? 0)) * INTERVAL_MS;
    expect(behindMs).toBeLessThan(delayMs + 1_500);
    expect(states[0]).toBe(state);
    expect(states).not.toContain('offline: no answer');
    expect(gaps).toEqual([]);
  });

  test('one failure that is tried again soon is no news', async () => {
    const here = world();
    const { states, told } = follow(here, { transport: 'poll' });
    await here.machine.advance(5_000);
    here.fixture.trouble = UNAVAILABLE;
    await here.machine.advance(250);
    here.fixture.trouble = null;
    await here.machine.advance(5_000);
    expect(states).toEqual(['live']);
    expect(told).toEqual(range(told[0], told.at(-1)));
  });
});

describe('polls that nobody answers for 5 s', () => {
  test('are told as `offline`, and tried again soon although many were under way', async () => {
    const here = world();
    const { states, told } = follow(here, { transport: 'poll' });
    await here.machine.advance(5_000);
    here.fixture.isSilent = true;
    await here.machine.advance(5_300);
    expect(states).toEqual(['live', 'offline: no answer']);
    here.fixture.isSilent = false;
    await here.machine.advance(7_000);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(told).toEqual(range(told[0], told.at(-1)));
  });

  test('are one at a time until one is answered', async () => {
    const here = world();
    follow(here, { transport: 'poll' });
    await here.machine.advance(5_000);
    here.fixture.isSilent = true;
    await here.machine.advance(6_000);
    const before = countBy(here, 'poll');
    await here.machine.advance(30_000);
    expect(countBy(here, 'poll') - before).toBeLessThan(7);
  });
});
