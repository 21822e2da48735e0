import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import {
  follow,
  MINUTE_MS,
  range,
  UNAVAILABLE,
  WAYS,
  world,
} from '../../test/support/sdk/feed-simulation.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

describe('[F-10] every interval is told once, in order', () => {
  test.each(WAYS)('from the last second on, by %s', async (transport) => {
    const here = world();
    const first = here.fixture.current - 4;
    const { told, states, feed } = follow(here, { transport });
    await here.machine.advance(30_000);
    expect(told).toEqual(range(first, told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.fixture.current - 3);
    expect(states).toEqual(['live']);
    expect(feed.next).toBe((told.at(-1) ?? 0) + 1);
  });

  test.each(WAYS)('over an outage, by %s', async (transport) => {
    const here = world();
    const { told, states, gaps } = follow(here, { transport });
    await here.machine.advance(5_000);
    here.fixture.trouble = UNAVAILABLE;
    here.fixture.endStreams('cut');
    await here.machine.advance(40_000);
    expect(states).toEqual(['live', 'offline: nobody is there']);
    here.fixture.trouble = null;
    await here.machine.advance(MINUTE_MS);
    expect(told).toEqual(range(told[0], told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.fixture.current - 4);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(gaps).toEqual([]);
  });

  test.each(WAYS)('over a sleep, when the old connection is gone, by %s', async (transport) => {
    const here = world();
    const { told } = follow(here, { transport });
    await here.machine.advance(5_000);
    here.fixture.loseStreams();
    await here.machine.sleep(30_000);
    await here.machine.advance(40_000);
    expect(told).toEqual(range(told[0], told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.fixture.current - 4);
  });

  test('over answers that come late and out of order', async () => {
    const here = world();
    const random = seededRandom(3);
    const { told } = follow(here, { transport: 'poll' });
    for (let step = 0; step < 200; step++) {
      here.fixture.delayMs = random() * 1_500;
      await here.machine.advance(100);
    }
    expect(told.length).toBeGreaterThan(60);
    expect(told).toEqual(range(told[0], told.at(-1)));
  });

  test.each(WAYS)('asks for nothing after it was stopped, by %s', async (transport) => {
    const here = world();
    const { feed, told } = follow(here, { transport });
    await here.machine.advance(5_000);
    feed.stop();
    await here.machine.settle();
    const before = [told.length, here.fixture.asked.length];
    await here.machine.advance(30_000);
    expect([told.length, here.fixture.asked.length]).toEqual(before);
    // The service's own.
    expect(here.machine.waiting).toBe(1);
    expect(here.fixture.openStreams).toBe(0);
  });
});

test.each(WAYS)(
  'a stop while the service is away leaves nothing behind, by %s',
  async (transport) => {
    const here = world();
    here.fixture.trouble = UNAVAILABLE;
    const { feed } = follow(here, { transport });
    await here.machine.advance(5_000);
    feed.stop();
    expect(here.machine.waiting).toBe(1);
  },
);

describe('too much that was missed is passed over', () => {
  test.each(WAYS)('after an outage, and told once, by %s', async (transport) => {
    const here = world();
    const { told, gaps } = follow(here, { transport, catchUpMs: 20_000 });
    await here.machine.advance(5_000);
    here.fixture.trouble = UNAVAILABLE;
    here.fixture.endStreams('cut');
    await here.machine.advance(MINUTE_MS);
    const lastMissed = told.at(-1) ?? 0;
    here.fixture.trouble = null;
    await here.machine.advance(MINUTE_MS);
    const [from = 0, to = 0] = gaps[0] ?? [];
    expect(gaps).toHaveLength(1);
    expect(from).toBe(lastMissed + 1);
    expect(to - from).toBeGreaterThan(30_000 / INTERVAL_MS);
    expect(told).toEqual([...range(told[0], from - 1), ...range(to + 1, told.at(-1))]);
  });

  test('also when the clock hears of the sleep while it is caught up', async () => {
    const here = world();
    const { told, gaps, clock, listener } = follow(here, { catchUpMs: 20_000 });
    await here.machine.advance(5_000);
    here.fixture.endStreams('cut');
    clock.offMs = -3_600_000;
    await here.machine.sleep(3_600_000);
    const before = told.length;
    listener.onTold = () => {
      if (told.length === before + 100) clock.offMs = 0;
    };
    await here.machine.advance(10_000);
    expect(gaps.length).toBeGreaterThan(0);
    expect(told.at(-1)).toBe(here.fixture.current - 1);
    const missed = gaps.flatMap(([from, to]) => range(from, to));
    expect([...told, ...missed].sort((a, b) => a - b)).toEqual(range(told[0], told.at(-1)));
  });

  test('empty intervals that an event stream leaves out are no loss [F-23]', async () => {
    const here = world();
    const { told, gaps } = follow(here);
    await here.machine.advance(1_000);
    here.fixture.skip(3);
    await here.machine.advance(2_000);
    expect(gaps).toEqual([]);
    expect(told.at(-1)).toBe(here.fixture.current - 1);
  });
});

test('what a viewer missed before the first interval is no gap', async () => {
  const here = world();
  here.fixture.trouble = UNAVAILABLE;
  const { told, gaps } = follow(here);
  await here.machine.advance(3 * MINUTE_MS);
  here.fixture.trouble = null;
  await here.machine.advance(20_000);
  expect(gaps).toEqual([]);
  expect(told[0]).toBeGreaterThan(intervalAt(here.machine.nowMs - 25_000));
});
