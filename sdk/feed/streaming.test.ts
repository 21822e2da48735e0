import { describe, expect, test } from 'bun:test';
import {
  countBy,
  follow,
  MINUTE_MS,
  range,
  world,
} from '../../test/support/sdk/feed-simulation.ts';

describe('[F-25] an event stream that ends', () => {
  test('with its token, or its node, is gone on with within a second, by the next interval', async () => {
    const here = world();
    const { told, states } = follow(here);
    await here.machine.advance(10 * MINUTE_MS);
    here.fixture.endStreams('over');
    await here.machine.settle();
    // All of its node end as one, and do not come back as one.
    expect(countBy(here, 'stream')).toBe(1);
    await here.machine.advance(1_000);
    expect(countBy(here, 'stream')).toBe(2);
    expect(told).toEqual(Array.from(told, (_, at) => (told[0] ?? 0) + at));
    expect(states).toEqual(['live']);
  });

  test('soon after it began is waited for', async () => {
    const here = world();
    follow(here);
    await here.machine.advance(2_000);
    here.fixture.endStreams('over');
    await here.machine.advance(200);
    expect(countBy(here, 'stream')).toBe(1);
    await here.machine.advance(1_500);
    expect(countBy(here, 'stream')).toBe(2);
  });

  test('without a word is found dead in 5 s, and read anew', async () => {
    const here = world();
    const { states, told } = follow(here, { transport: 'stream' });
    await here.machine.advance(20_000);
    here.fixture.loseStreams();
    await here.machine.advance(4_000);
    expect(states).toEqual(['live']);
    await here.machine.advance(3_000);
    expect(states.slice(1, 3)).toEqual(['offline: the feed brings nothing', 'catching-up']);
    await here.machine.advance(1_000);
    expect(states.at(-1)).toBe('live');
    expect(told).toEqual(range(told[0], here.fixture.current - 1));
  });
});

describe('where no event stream comes through, it is polled', () => {
  test('4 s after the stream began, and nothing is missed', async () => {
    const here = world();
    here.fixture.isBuffering = true;
    const { told, states } = follow(here);
    await here.machine.advance(2_900);
    expect(told).toEqual([]);
    await here.machine.advance(10_000);
    expect(told).toEqual(range(told[0], told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.fixture.current - 3);
    expect(states).toEqual(['catching-up', 'live']);
  });

  test('also when a proxy keeps back the headers, as soon as a poll proves it', async () => {
    const here = world();
    here.fixture.isUnanswered = true;
    const { told, states } = follow(here);
    await here.machine.advance(30_000);
    expect(states).toEqual(['offline: no answer', 'live']);
    expect(told).toEqual(range(told[0], told.at(-1)));
    here.fixture.isUnanswered = false;
    await here.machine.advance(2 * MINUTE_MS);
    expect(here.fixture.openStreams).toBe(1);
    expect(told).toEqual(range(told[0], here.fixture.current - 1));
  });

  test('streams are tried again, ever more rarely, and taken when they come', async () => {
    const here = world();
    here.fixture.isBuffering = true;
    const { told } = follow(here);
    await here.machine.advance(10 * MINUTE_MS);
    expect(countBy(here, 'stream')).toBeLessThan(9);
    here.fixture.isBuffering = false;
    await here.machine.advance(12 * MINUTE_MS);
    const polls = countBy(here, 'poll');
    await here.machine.advance(MINUTE_MS);
    expect(countBy(here, 'poll')).toBe(polls);
    expect(told).toEqual(range(told[0], here.fixture.current - 1));
    // The service's own, and the watch over the stream.
    expect(here.machine.waiting).toBe(2);
  });

  test('not when streams alone are wanted', async () => {
    const here = world();
    here.fixture.isBuffering = true;
    const { states } = follow(here, { transport: 'stream' });
    await here.machine.advance(MINUTE_MS);
    expect(countBy(here, 'poll')).toBe(0);
    expect(states).toEqual(['offline: the feed brings nothing']);
  });

  test('not for long when it is the service that brings nothing', async () => {
    const here = world();
    const { told } = follow(here);
    await here.machine.advance(20_000);
    here.fixture.isStalled = true;
    await here.machine.advance(30_000);
    expect(countBy(here, 'poll')).toBeLessThan(15);
    here.fixture.isStalled = false;
    await here.machine.advance(30_000);
    const polls = countBy(here, 'poll');
    await here.machine.advance(20_000);
    expect(countBy(here, 'poll')).toBe(polls);
    expect(told).toEqual(range(told[0], here.fixture.current - 1));
  });
});

test('[F-7] a stream that is refused lets the clock be looked at, and goes on', async () => {
  const here = world();
  const { clock, states } = follow(here, { transport: 'stream' });
  clock.offMs = 20_000;
  await here.machine.advance(5_000);
  expect(clock.looks).toBeGreaterThan(0);
  clock.offMs = 0;
  await here.machine.advance(20_000);
  expect(states.at(-1)).toBe('live');
});
