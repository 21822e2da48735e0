import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../protocol/interval.ts';
import { Trouble } from './errors.ts';
import { FakeMachine } from './fake-machine.ts';
import { Screen } from './screen.ts';

const MINUTE_MS = 60_000;

/** A viewer whose feed comes as it happens, and a picture that is late by some time. */
function begin({ hasFeed = true } = {}) {
  const machine = new FakeMachine();
  /** What was shown, and `jump` for each jump. */
  const told: (number | string)[] = [];
  /** What was asked for, and when. */
  const asked: { interval: number; atMs: number }[] = [];
  const service = { trouble: null as Trouble | null, delayMs: 20 };
  const picture = {
    /** Behind what happens. */
    lateMs: 8_000,
    isThere: true,
    wallClockMs: () => (picture.isThere ? machine.nowMs - picture.lateMs : null),
  };
  const past = {
    interval: async (interval: number) => {
      asked.push({ interval, atMs: machine.nowMs });
      await new Promise<void>((resolve) => machine.environment.after(service.delayMs, resolve));
      if (service.trouble) throw service.trouble;
      return { interval, events: [] };
    },
  };
  const screen = new Screen(machine.environment, past, {
    onInterval: ({ interval }) => told.push(interval),
    onJump: (interval) => told.push(`jump ${interval}`),
  });
  const feed = { next: intervalAt(machine.nowMs), isOn: hasFeed };
  const bring = () => {
    machine.environment.after(INTERVAL_MS, bring);
    for (; feed.isOn && feed.next < intervalAt(machine.nowMs); feed.next++) {
      screen.push({ interval: feed.next, events: [] });
    }
  };
  bring();
  const onScreen = () => intervalAt(machine.nowMs - picture.lateMs);
  return { machine, screen, picture, told, asked, service, feed, onScreen };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function isInOrder(told: readonly (number | string)[]): boolean {
  return told.every((one, at) => at === 0 || one === Number(told[at - 1]) + 1);
}

describe('without a picture', () => {
  test('what happens is shown as it comes', async () => {
    const { machine, told, asked, feed, screen } = begin();
    const first = feed.next;
    await machine.advance(2_000);
    expect(told).toEqual(range(first, first + 7));
    // What was passed over is not waited for.
    feed.next += 100;
    screen.push({ interval: feed.next, events: [] });
    expect(told.at(-1)).toBe(feed.next);
    expect(asked).toEqual([]);
  });

  test('none is looked for', () => {
    const { machine } = begin();
    expect(machine.waiting).toBe(1);
  });
});

describe('with a picture', () => {
  test('an interval is shown when it is on screen, within a look', async () => {
    const { machine, screen, picture, told, onScreen, asked } = begin();
    picture.lateMs = 2_010;
    const first = onScreen();
    screen.follow(picture);
    await machine.advance(5_000);
    const before = told.length;
    for (let step = 0; step < 100; step++) {
      await machine.advance(10);
      const last = Number(told.at(-1));
      expect(last).toBeLessThanOrEqual(onScreen());
      expect(last).toBeGreaterThanOrEqual(intervalAt(machine.nowMs - picture.lateMs - 50));
    }
    expect(told.length - before).toBe(4);
    expect(told).toEqual(range(first, onScreen()));
    // What was before the feed began.
    expect(asked.length).toBeLessThanOrEqual(2_000 / INTERVAL_MS + 1);
  });

  test('what happened just before it began is on screen too', async () => {
    const { machine, screen, picture, told, feed } = begin();
    const first = feed.next;
    picture.lateMs = 300;
    picture.isThere = false;
    screen.follow(picture);
    await machine.advance(2_000);
    expect(told).toEqual([]);
    picture.isThere = true;
    await machine.advance(50);
    expect(told[0]).toBe(first);
    expect(isInOrder(told)).toBe(true);
  });

  test('one that loads is waited for, for 5 s; then there is none, until it comes', async () => {
    const { machine, screen, picture, told, onScreen } = begin();
    picture.isThere = false;
    screen.follow(picture);
    await machine.advance(4_900);
    expect(told).toEqual([]);
    await machine.advance(1_000);
    expect(told.length).toBeGreaterThan(20);
    expect(isInOrder(told)).toBe(true);
    picture.isThere = true;
    await machine.advance(50);
    expect(told.at(-1)).toBe(`jump ${onScreen()}`);
    await machine.advance(10_000);
    expect(told.at(-1)).toBe(onScreen());
  });

  test('one that was away shortly goes on', async () => {
    const { machine, screen, picture, told } = begin();
    screen.follow(picture);
    await machine.advance(20_000);
    picture.isThere = false;
    await machine.advance(4_000);
    picture.isThere = true;
    await machine.advance(4_000);
    expect(isInOrder(told)).toBe(true);
  });

  test('one whose clock trembles shows nothing twice', async () => {
    const { machine, screen, picture, told } = begin();
    screen.follow(picture);
    for (let step = 0; step < 200; step++) {
      picture.lateMs = 8_000 + (step % 3) * 300;
      await machine.advance(60);
    }
    expect(isInOrder(told)).toBe(true);
  });

  test('one in a page that is hidden, where nobody looks for a minute, misses nothing', async () => {
    const { machine, screen, picture, told, onScreen } = begin();
    screen.follow(picture);
    await machine.advance(20_000);
    const { after } = machine.environment;
    Object.assign(machine.environment, {
      after: (_: number, run: () => void) => after(MINUTE_MS, run),
    });
    await machine.advance(4 * MINUTE_MS);
    Object.assign(machine.environment, { after });
    await machine.advance(MINUTE_MS + 1_000);
    expect(isInOrder(told)).toBe(true);
    expect(told.at(-1)).toBe(onScreen());
  });

  test('a feed that is late is waited for, and what it passed over is not asked for', async () => {
    const { machine, screen, picture, told, feed, asked, onScreen } = begin();
    picture.lateMs = 1_000;
    screen.follow(picture);
    await machine.advance(5_000);
    asked.length = 0;
    feed.isOn = false;
    await machine.advance(10_000);
    expect(told.at(-1)).toBe(feed.next - 1);
    const gapFrom = feed.next;
    feed.next += 10;
    feed.isOn = true;
    await machine.advance(1_000);
    expect(told).toEqual([
      ...range(Number(told[0]), gapFrom - 1),
      ...range(gapFrom + 10, onScreen()),
    ]);
    expect(asked).toEqual([]);
  });

  test('one that is not followed any more lets all come', async () => {
    const { machine, screen, picture, told, feed } = begin();
    screen.follow(picture);
    await machine.advance(20_000);
    screen.follow(null);
    expect(told.at(-1)).toBe(feed.next - 1);
    expect(isInOrder(told)).toBe(true);
    expect(machine.waiting).toBe(1);
  });

  test('nothing is shown, asked for or kept after the stop', async () => {
    const { machine, screen, picture, told, asked, feed } = begin();
    screen.follow(picture);
    await machine.advance(1_000);
    screen.stop();
    feed.isOn = false;
    const before = [told.length, asked.length];
    await machine.advance(20_000);
    expect([told.length, asked.length]).toEqual(before);
    expect(machine.waiting).toBe(1);
  });
});

describe('a picture that goes elsewhere', () => {
  test('a little back shows what it showed, and asks for nothing', async () => {
    const { machine, screen, picture, told, asked, onScreen } = begin();
    screen.follow(picture);
    await machine.advance(MINUTE_MS);
    asked.length = 0;
    told.length = 0;
    picture.lateMs += 10_000;
    const to = onScreen();
    await machine.advance(20_000);
    expect(told[0]).toBe(`jump ${to}`);
    expect(told.slice(1)).toEqual(range(to, onScreen()));
    expect(asked).toEqual([]);
  });

  test('far back shows what it asks for, few at once, and then what the feed brought', async () => {
    const { machine, screen, picture, told, asked, onScreen } = begin();
    screen.follow(picture);
    await machine.advance(2 * MINUTE_MS);
    asked.length = 0;
    told.length = 0;
    picture.lateMs += MINUTE_MS;
    const to = onScreen();
    await machine.advance(MINUTE_MS);
    expect(told[0]).toBe(`jump ${to}`);
    expect(told.slice(1)).toEqual(range(to, onScreen()));
    expect(new Set(asked.map(({ interval }) => interval)).size).toBe(asked.length);
    // From 30 s before the jump on all is here.
    expect(asked.length).toBeLessThan(32_000 / INTERVAL_MS);
    expect(Math.max(...asked.map(({ atMs }) => countIn(asked, atMs)))).toBeLessThanOrEqual(10);
  });

  test('ahead does not show what is between', async () => {
    const { machine, screen, picture, told, onScreen } = begin();
    picture.lateMs = 40_000;
    screen.follow(picture);
    await machine.advance(MINUTE_MS);
    told.length = 0;
    picture.lateMs = 8_000;
    const to = onScreen();
    await machine.advance(2_000);
    expect(told[0]).toBe(`jump ${to}`);
    expect(told.slice(1)).toEqual(range(to, onScreen()));
  });

  test('to where nothing is held after a long pause shows all that was', async () => {
    const { machine, screen, picture, told, asked } = begin();
    screen.follow(picture);
    await machine.advance(MINUTE_MS);
    asked.length = 0;
    const heldMs = machine.nowMs - picture.lateMs;
    const paused = { wallClockMs: () => heldMs };
    screen.follow(paused);
    await machine.advance(15 * MINUTE_MS);
    const { length } = told;
    picture.lateMs = machine.nowMs - heldMs;
    screen.follow(picture);
    await machine.advance(MINUTE_MS);
    expect(told.length - length).toBeGreaterThan(230);
    expect(isInOrder(told.slice(length - 1))).toBe(true);
    // No more than 10 minutes are held, and half a minute around what is shown.
    expect(asked.length).toBeGreaterThan(100);
  });
});

describe('a show that is over', () => {
  test('is asked for as it comes on screen, each once, and a little ahead', async () => {
    const { machine, screen, picture, told, asked, onScreen } = begin({ hasFeed: false });
    picture.lateMs = 3_600_000;
    const first = onScreen();
    screen.follow(picture);
    await machine.advance(MINUTE_MS);
    expect(told).toEqual(range(first, onScreen()));
    expect(asked.length).toBeLessThanOrEqual(told.length + 4);
  });

  test('plays at twice the pace', async () => {
    const { machine, screen, told, picture } = begin({ hasFeed: false });
    const startMs = machine.nowMs;
    const fast = { wallClockMs: () => startMs - 3_600_000 + 2 * (machine.nowMs - startMs) };
    screen.follow(fast);
    await machine.advance(MINUTE_MS);
    expect(told.length).toBeGreaterThan(475);
    expect(isInOrder(told)).toBe(true);
    expect(picture.isThere).toBe(true);
  });

  test('goes on after trouble of the service, with what was missed', async () => {
    const { machine, screen, picture, told, asked, service, onScreen } = begin({ hasFeed: false });
    picture.lateMs = 3_600_000;
    const first = onScreen();
    screen.follow(picture);
    await machine.advance(10_000);
    asked.length = 0;
    service.trouble = new Trouble('away', 'nobody is there', 503, 2_000);
    await machine.advance(20_000);
    expect(asked.length).toBeLessThan(20);
    service.trouble = null;
    await machine.advance(MINUTE_MS);
    expect(told).toEqual(range(first, onScreen()));
  });

  test('passes over what was missed when it is too much', async () => {
    const { machine, screen, picture, told, service, onScreen } = begin({ hasFeed: false });
    picture.lateMs = 3_600_000;
    screen.follow(picture);
    await machine.advance(10_000);
    service.trouble = new Trouble('away', 'nobody is there');
    await machine.advance(2 * MINUTE_MS);
    service.trouble = null;
    await machine.advance(30_000);
    expect(told.some((one) => typeof one === 'string')).toBe(true);
    expect(told.at(-1)).toBe(onScreen());
  });

  test('of which the feed lost the end is asked for from there on', async () => {
    const { machine, screen, picture, told, feed, onScreen } = begin();
    screen.follow(picture);
    await machine.advance(20_000);
    feed.isOn = false;
    await machine.advance(20_000);
    expect(told.at(-1)).toBe(feed.next - 1);
    screen.replay();
    await machine.advance(20_000);
    expect(told.at(-1)).toBe(onScreen());
    expect(isInOrder(told)).toBe(true);
  });
});

function countIn(asked: readonly { atMs: number }[], fromMs: number): number {
  return asked.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 1_000).length;
}
