import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS } from '../protocol/interval.ts';
import { begin, countIn, isInOrder, MINUTE_MS, range } from '../test/support/sdk/screen-fixture.ts';
import { FourbeatError } from './errors.ts';

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
    service.trouble = new FourbeatError('away', 'nobody is there', 503, 2_000);
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
    service.trouble = new FourbeatError('away', 'nobody is there');
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
