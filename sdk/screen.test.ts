import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../protocol/interval.ts';
import { begin, isInOrder, MINUTE_MS, range } from '../test/support/sdk/screen-fixture.ts';

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
