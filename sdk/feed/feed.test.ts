import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import { Trouble } from '../errors.ts';
import { FakeMachine } from '../fake-machine.ts';
import { Feed, type FeedOptions } from './feed.ts';
import { FeedGround } from './feed-ground.ts';

interface World {
  readonly machine: FakeMachine;
  readonly ground: FeedGround;
}

const MINUTE_MS = 60_000;
const AWAY = new Trouble('away', 'nobody is there');

/** Between 0 and 1, the same each time. */
function seeded(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

function world(random: () => number = seeded()): World {
  const machine = new FakeMachine({ random });
  return { machine, ground: new FeedGround(machine) };
}

/** A viewer's feed, and all that is told of it. */
function follow({ machine, ground }: World, options: Partial<FeedOptions> = {}) {
  const told: number[] = [];
  const listener = { onTold: () => {} };
  const states: string[] = [];
  const gaps: [number, number][] = [];
  const clock = {
    /** How far the clock is off, and how far it knows that it may be. */
    offMs: 0,
    errorMs: 20,
    looks: 0,
    synced: Promise.resolve(),
    nowMs: () => machine.nowMs + clock.offMs,
    look: () => {
      clock.looks++;
    },
  };
  const feed = new Feed(
    machine.environment,
    clock,
    ground,
    { transport: 'auto', catchUpMs: MINUTE_MS, ...options },
    {
      onInterval: ({ interval }) => {
        told.push(interval);
        listener.onTold();
      },
      onState: (state, trouble) => states.push(trouble ? `${state}: ${trouble.message}` : state),
      onGap: (from, to) => gaps.push([from, to]),
    },
  );
  feed.start();
  return { feed, told, states, gaps, clock, listener };
}

/** All from the first to the last. */
function range(first = 0, last = 0): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function countBy({ ground }: World, by: 'poll' | 'stream'): number {
  return ground.asked.filter((one) => one.by === by).length;
}

/** The most requests that begin in one second. */
function peak({ ground }: World, fromMs: number): number {
  const times = ground.asked.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
  return Math.max(...times.map((ms) => times.filter((at) => at >= ms && at < ms + 1_000).length));
}

const WAYS: [FeedOptions['transport']][] = [['auto'], ['stream'], ['poll']];

describe('[F-10] every interval is told once, in order', () => {
  test.each(WAYS)('from the last second on, by %s', async (transport) => {
    const here = world();
    const first = here.ground.current - 4;
    const { told, states, feed } = follow(here, { transport });
    await here.machine.advance(30_000);
    expect(told).toEqual(range(first, told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.ground.current - 3);
    expect(states).toEqual(['live']);
    expect(feed.next).toBe((told.at(-1) ?? 0) + 1);
  });

  test.each(WAYS)('over an outage, by %s', async (transport) => {
    const here = world();
    const { told, states, gaps } = follow(here, { transport });
    await here.machine.advance(5_000);
    here.ground.trouble = AWAY;
    here.ground.endStreams('cut');
    await here.machine.advance(40_000);
    expect(states).toEqual(['live', 'offline: nobody is there']);
    here.ground.trouble = null;
    await here.machine.advance(MINUTE_MS);
    expect(told).toEqual(range(told[0], told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.ground.current - 4);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(gaps).toEqual([]);
  });

  test.each(WAYS)('over a sleep, when the old connection is gone, by %s', async (transport) => {
    const here = world();
    const { told } = follow(here, { transport });
    await here.machine.advance(5_000);
    here.ground.loseStreams();
    await here.machine.sleep(30_000);
    await here.machine.advance(40_000);
    expect(told).toEqual(range(told[0], told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.ground.current - 4);
  });

  test('over answers that come late and out of order', async () => {
    const here = world();
    const random = seeded(3);
    const { told } = follow(here, { transport: 'poll' });
    for (let step = 0; step < 200; step++) {
      here.ground.delayMs = random() * 1_500;
      await here.machine.advance(100);
    }
    expect(told.length).toBeGreaterThan(60);
    expect(told).toEqual(range(told[0], told.at(-1)));
  });

  test('begins when the clock is synced, and nowhere after it was stopped', async () => {
    const here = world();
    const { feed, told, states } = follow(here);
    feed.stop();
    await here.machine.advance(10_000);
    expect([told, states, here.ground.asked]).toEqual([[], [], []]);
  });

  test.each(WAYS)('asks for nothing after it was stopped, by %s', async (transport) => {
    const here = world();
    const { feed, told } = follow(here, { transport });
    await here.machine.advance(5_000);
    feed.stop();
    await here.machine.settle();
    const before = [told.length, here.ground.asked.length];
    await here.machine.advance(30_000);
    expect([told.length, here.ground.asked.length]).toEqual(before);
    // The service's own.
    expect(here.machine.waiting).toBe(1);
    expect(here.ground.openStreams).toBe(0);
  });
});

test.each(WAYS)(
  'a stop while the service is away leaves nothing behind, by %s',
  async (transport) => {
    const here = world();
    here.ground.trouble = AWAY;
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
    here.ground.trouble = AWAY;
    here.ground.endStreams('cut');
    await here.machine.advance(MINUTE_MS);
    const lastMissed = told.at(-1) ?? 0;
    here.ground.trouble = null;
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
    here.ground.endStreams('cut');
    clock.offMs = -3_600_000;
    await here.machine.sleep(3_600_000);
    const before = told.length;
    listener.onTold = () => {
      if (told.length === before + 100) clock.offMs = 0;
    };
    await here.machine.advance(10_000);
    expect(gaps.length).toBeGreaterThan(0);
    expect(told.at(-1)).toBe(here.ground.current - 1);
    const missed = gaps.flatMap(([from, to]) => range(from, to));
    expect([...told, ...missed].sort((a, b) => a - b)).toEqual(range(told[0], told.at(-1)));
  });

  test('empty intervals that an event stream leaves out are no loss [F-23]', async () => {
    const here = world();
    const { told, gaps } = follow(here);
    await here.machine.advance(1_000);
    here.ground.skip(3);
    await here.machine.advance(2_000);
    expect(gaps).toEqual([]);
    expect(told.at(-1)).toBe(here.ground.current - 1);
  });
});

describe('[F-25] an event stream that ends', () => {
  test('with its token, or its node, is gone on with within a second, by the next interval', async () => {
    const here = world();
    const { told, states } = follow(here);
    await here.machine.advance(10 * MINUTE_MS);
    here.ground.endStreams('over');
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
    here.ground.endStreams('over');
    await here.machine.advance(200);
    expect(countBy(here, 'stream')).toBe(1);
    await here.machine.advance(1_500);
    expect(countBy(here, 'stream')).toBe(2);
  });

  test('without a word is found dead in 5 s, and read anew', async () => {
    const here = world();
    const { states, told } = follow(here, { transport: 'stream' });
    await here.machine.advance(20_000);
    here.ground.loseStreams();
    await here.machine.advance(4_000);
    expect(states).toEqual(['live']);
    await here.machine.advance(3_000);
    expect(states.slice(1, 3)).toEqual(['offline: The feed brings nothing.', 'catching-up']);
    await here.machine.advance(1_000);
    expect(states.at(-1)).toBe('live');
    expect(told).toEqual(range(told[0], here.ground.current - 1));
  });
});

describe('where no event stream comes through, it is polled', () => {
  test('4 s after the stream began, and nothing is missed', async () => {
    const here = world();
    here.ground.isBuffering = true;
    const { told, states } = follow(here);
    await here.machine.advance(2_900);
    expect(told).toEqual([]);
    await here.machine.advance(10_000);
    expect(told).toEqual(range(told[0], told.at(-1)));
    expect(told.at(-1)).toBeGreaterThan(here.ground.current - 3);
    expect(states).toEqual(['catching-up', 'live']);
  });

  test('also when a proxy keeps back the headers, as soon as a poll proves it', async () => {
    const here = world();
    here.ground.isUnanswered = true;
    const { told, states } = follow(here);
    await here.machine.advance(30_000);
    expect(states).toEqual(['offline: no answer', 'live']);
    expect(told).toEqual(range(told[0], told.at(-1)));
    here.ground.isUnanswered = false;
    await here.machine.advance(2 * MINUTE_MS);
    expect(here.ground.openStreams).toBe(1);
    expect(told).toEqual(range(told[0], here.ground.current - 1));
  });

  test('streams are tried again, ever more rarely, and taken when they come', async () => {
    const here = world();
    here.ground.isBuffering = true;
    const { told } = follow(here);
    await here.machine.advance(10 * MINUTE_MS);
    expect(countBy(here, 'stream')).toBeLessThan(9);
    here.ground.isBuffering = false;
    await here.machine.advance(12 * MINUTE_MS);
    const polls = countBy(here, 'poll');
    await here.machine.advance(MINUTE_MS);
    expect(countBy(here, 'poll')).toBe(polls);
    expect(told).toEqual(range(told[0], here.ground.current - 1));
    // The service's own, and the watch over the stream.
    expect(here.machine.waiting).toBe(2);
  });

  test('not when streams alone are wanted', async () => {
    const here = world();
    here.ground.isBuffering = true;
    const { states } = follow(here, { transport: 'stream' });
    await here.machine.advance(MINUTE_MS);
    expect(countBy(here, 'poll')).toBe(0);
    expect(states).toEqual(['offline: The feed brings nothing.']);
  });

  test('not for long when it is the service that brings nothing', async () => {
    const here = world();
    const { told } = follow(here);
    await here.machine.advance(20_000);
    here.ground.isStalled = true;
    await here.machine.advance(30_000);
    expect(countBy(here, 'poll')).toBeLessThan(15);
    here.ground.isStalled = false;
    await here.machine.advance(30_000);
    const polls = countBy(here, 'poll');
    await here.machine.advance(20_000);
    expect(countBy(here, 'poll')).toBe(polls);
    expect(told).toEqual(range(told[0], here.ground.current - 1));
  });
});

describe('polls', () => {
  test('ask for an interval at its end, the clock’s error and a phase of their own later', async () => {
    const here = world();
    const phases = new Set<number>();
    for (let viewer = 0; viewer < 20; viewer++) {
      const own = { machine: here.machine, ground: new FeedGround(here.machine) };
      const { feed } = follow(own, { transport: 'poll' });
      await here.machine.advance(3_000);
      const afterMs = own.ground.asked
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
    expect(told[0]).toBeLessThan(here.ground.current - 8);
  });

  test('one failure that is tried again soon is no news', async () => {
    const here = world();
    const { states, told } = follow(here, { transport: 'poll' });
    await here.machine.advance(5_000);
    here.ground.trouble = AWAY;
    await here.machine.advance(250);
    here.ground.trouble = null;
    await here.machine.advance(5_000);
    expect(states).toEqual(['live']);
    expect(told).toEqual(range(told[0], told.at(-1)));
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

describe('polls that nobody answers for 5 s', () => {
  test('are told as `offline`, and tried again soon although many were under way', async () => {
    const here = world();
    const { states, told } = follow(here, { transport: 'poll' });
    await here.machine.advance(5_000);
    here.ground.isSilent = true;
    await here.machine.advance(5_300);
    expect(states).toEqual(['live', 'offline: no answer']);
    here.ground.isSilent = false;
    await here.machine.advance(7_000);
    expect(states.slice(2)).toEqual(['catching-up', 'live']);
    expect(told).toEqual(range(told[0], told.at(-1)));
  });

  test('are one at a time until one is answered', async () => {
    const here = world();
    follow(here, { transport: 'poll' });
    await here.machine.advance(5_000);
    here.ground.isSilent = true;
    await here.machine.advance(6_000);
    const before = countBy(here, 'poll');
    await here.machine.advance(30_000);
    expect(countBy(here, 'poll') - before).toBeLessThan(7);
  });
});

describe('a crowd that lost the service as one does not come back as one', () => {
  const VIEWERS = 60;

  async function crowd(transport: FeedOptions['transport']) {
    const here = world(seeded(7));
    const viewers = Array.from({ length: VIEWERS }, () => follow(here, { transport }));
    await here.machine.advance(5_000);
    return { here, viewers };
  }

  test.each([20_000, 3_000, 200])(
    'polls: at most twice the usual, after %d ms',
    async (outageMs) => {
      const { here, viewers } = await crowd('poll');
      here.ground.trouble = AWAY;
      await here.machine.advance(outageMs);
      here.ground.trouble = null;
      const backMs = here.machine.nowMs;
      await here.machine.advance(40_000);
      expect(peak(here, backMs)).toBeLessThanOrEqual(2 * 4 * VIEWERS);
      for (const { told } of viewers) expect(told).toEqual(range(told[0], told.at(-1)));
    },
  );

  test.each([20_000, 3_000, 0])('streams: less than one each, after %d ms', async (outageMs) => {
    const { here, viewers } = await crowd('auto');
    here.ground.trouble = AWAY;
    here.ground.endStreams('cut');
    await here.machine.advance(outageMs);
    here.ground.trouble = null;
    const backMs = here.machine.nowMs;
    await here.machine.advance(30_000);
    expect(peak(here, backMs)).toBeLessThanOrEqual(VIEWERS);
    for (const { told } of viewers) expect(told).toEqual(range(told[0], here.ground.current - 1));
  });

  test('streams that were cut at once begin again over more than a second', async () => {
    const { here } = await crowd('auto');
    here.ground.endStreams('cut');
    const cutMs = here.machine.nowMs;
    await here.machine.advance(3_000);
    const times = here.ground.asked.map(({ atMs }) => atMs).filter((atMs) => atMs >= cutMs);
    expect(times).toHaveLength(VIEWERS);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1_000);
  });

  test('streams of a service that seals nothing: one each in a second', async () => {
    const { here } = await crowd('auto');
    here.ground.isStalled = true;
    const fromMs = here.machine.nowMs;
    await here.machine.advance(15_000);
    here.ground.isStalled = false;
    await here.machine.advance(20_000);
    expect(peak(here, fromMs)).toBeLessThanOrEqual(VIEWERS);
  });
});

test('what a viewer missed before the first interval is no gap', async () => {
  const here = world();
  here.ground.trouble = AWAY;
  const { told, gaps } = follow(here);
  await here.machine.advance(3 * MINUTE_MS);
  here.ground.trouble = null;
  await here.machine.advance(20_000);
  expect(gaps).toEqual([]);
  expect(told[0]).toBeGreaterThan(intervalAt(here.machine.nowMs - 25_000));
});
