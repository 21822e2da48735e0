import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt } from '../protocol/interval.ts';
import {
  createVideoSyncFixture,
  isInOrder,
  MINUTE_MS,
  range,
} from '../test/support/sdk/video-sync-fixture.ts';

describe('without a picture', () => {
  test('intervals are shown as they arrive', async () => {
    const { machine, shown, requests, feed, buffer } = createVideoSyncFixture();
    const first = feed.next;
    await machine.advance(2_000);
    expect(shown).toEqual(range(first, first + 7));
    // Skipped intervals are not waited for.
    feed.next += 100;
    buffer.push({ interval: feed.next, events: [] });
    expect(shown.at(-1)).toBe(feed.next);
    expect(requests).toEqual([]);
  });

  test('there is no timer', () => {
    const { machine } = createVideoSyncFixture();
    expect(machine.pendingTimers).toBe(1);
  });
});

describe('with a picture', () => {
  test('an interval is shown when playback reaches it', async () => {
    const { machine, buffer, picture, shown, currentInterval, requests } = createVideoSyncFixture();
    picture.latencyMs = 2_010;
    const first = currentInterval();
    buffer.follow(picture);
    await machine.advance(5_000);
    const before = shown.length;
    for (let step = 0; step < 100; step++) {
      await machine.advance(10);
      const last = Number(shown.at(-1));
      expect(last).toBeLessThanOrEqual(currentInterval());
      expect(last).toBeGreaterThanOrEqual(intervalAt(machine.nowMs - picture.latencyMs - 50));
    }
    expect(shown.length - before).toBe(4);
    expect(shown).toEqual(range(first, currentInterval()));
    // Requests for intervals before the start of the feed.
    expect(requests.length).toBeLessThanOrEqual(2_000 / INTERVAL_MS + 1);
  });

  test('intervals that arrived while it was loading are shown too', async () => {
    const { machine, buffer, picture, shown, feed } = createVideoSyncFixture();
    const first = feed.next;
    picture.latencyMs = 300;
    picture.isAvailable = false;
    buffer.follow(picture);
    await machine.advance(2_000);
    expect(shown).toEqual([]);
    picture.isAvailable = true;
    await machine.advance(50);
    expect(shown[0]).toBe(first);
    expect(isInOrder(shown)).toBe(true);
  });

  test('that loads, intervals wait for 5 s; then they are shown as they arrive, until it appears', async () => {
    const { machine, buffer, picture, shown, currentInterval } = createVideoSyncFixture();
    picture.isAvailable = false;
    buffer.follow(picture);
    await machine.advance(4_900);
    expect(shown).toEqual([]);
    await machine.advance(1_000);
    expect(shown.length).toBeGreaterThan(20);
    expect(isInOrder(shown)).toBe(true);
    picture.isAvailable = true;
    await machine.advance(50);
    expect(shown.at(-1)).toBe(`jump ${currentInterval()}`);
    await machine.advance(10_000);
    expect(shown.at(-1)).toBe(currentInterval());
  });

  test('that has no position for a short time, playback continues', async () => {
    const { machine, buffer, picture, shown } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(20_000);
    picture.isAvailable = false;
    await machine.advance(4_000);
    picture.isAvailable = true;
    await machine.advance(4_000);
    expect(isInOrder(shown)).toBe(true);
  });

  test('whose position jitters, no interval is shown twice', async () => {
    const { machine, buffer, picture, shown } = createVideoSyncFixture();
    buffer.follow(picture);
    for (let step = 0; step < 200; step++) {
      picture.latencyMs = 8_000 + (step % 3) * 300;
      await machine.advance(60);
    }
    expect(isInOrder(shown)).toBe(true);
  });

  test('in a hidden page with slow timers, no interval is missed', async () => {
    const { machine, buffer, picture, shown, currentInterval } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(20_000);
    const { after } = machine.environment;
    Object.assign(machine.environment, {
      after: (_: number, run: () => void) => after(MINUTE_MS, run),
    });
    await machine.advance(4 * MINUTE_MS);
    Object.assign(machine.environment, { after });
    await machine.advance(MINUTE_MS + 1_000);
    expect(isInOrder(shown)).toBe(true);
    expect(shown.at(-1)).toBe(currentInterval());
  });

  test('a late feed is waited for, and intervals that it skips are not requested', async () => {
    const { machine, buffer, picture, shown, feed, requests, currentInterval } =
      createVideoSyncFixture();
    picture.latencyMs = 1_000;
    buffer.follow(picture);
    await machine.advance(5_000);
    requests.length = 0;
    feed.isOn = false;
    await machine.advance(10_000);
    expect(shown.at(-1)).toBe(feed.next - 1);
    const gapFrom = feed.next;
    feed.next += 10;
    feed.isOn = true;
    await machine.advance(1_000);
    expect(shown).toEqual([
      ...range(Number(shown[0]), gapFrom - 1),
      ...range(gapFrom + 10, currentInterval()),
    ]);
    expect(requests).toEqual([]);
  });

  test('that is not followed any more, all intervals are shown', async () => {
    const { machine, buffer, picture, shown, feed } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(20_000);
    buffer.follow(null);
    expect(shown.at(-1)).toBe(feed.next - 1);
    expect(isInOrder(shown)).toBe(true);
    expect(machine.pendingTimers).toBe(1);
  });

  test('nothing is shown, requested or scheduled after `stop`', async () => {
    const { machine, buffer, picture, shown, requests, feed } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(1_000);
    buffer.stop();
    feed.isOn = false;
    const before = [shown.length, requests.length];
    await machine.advance(20_000);
    expect([shown.length, requests.length]).toEqual(before);
    expect(machine.pendingTimers).toBe(1);
  });
});
