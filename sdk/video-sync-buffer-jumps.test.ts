import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS } from '../protocol/interval.ts';
import {
  countInSecond,
  createVideoSyncFixture,
  isInOrder,
  MINUTE_MS,
  range,
} from '../test/support/sdk/video-sync-fixture.ts';
import { FourbeatError } from './errors.ts';

describe('a picture that goes elsewhere', () => {
  test('a little back shows what it showed, and asks for nothing', async () => {
    const { machine, buffer, picture, shown, requests, currentInterval } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    requests.length = 0;
    shown.length = 0;
    picture.latencyMs += 10_000;
    const to = currentInterval();
    await machine.advance(20_000);
    expect(shown[0]).toBe(`jump ${to}`);
    expect(shown.slice(1)).toEqual(range(to, currentInterval()));
    expect(requests).toEqual([]);
  });

  test('far back shows what it asks for, few at once, and then what the feed brought', async () => {
    const { machine, buffer, picture, shown, requests, currentInterval } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(2 * MINUTE_MS);
    requests.length = 0;
    shown.length = 0;
    picture.latencyMs += MINUTE_MS;
    const to = currentInterval();
    await machine.advance(MINUTE_MS);
    expect(shown[0]).toBe(`jump ${to}`);
    expect(shown.slice(1)).toEqual(range(to, currentInterval()));
    expect(new Set(requests.map(({ interval }) => interval)).size).toBe(requests.length);
    // From 30 s before the jump on all is here.
    expect(requests.length).toBeLessThan(32_000 / INTERVAL_MS);
    expect(
      Math.max(...requests.map(({ atMs }) => countInSecond(requests, atMs))),
    ).toBeLessThanOrEqual(10);
  });

  test('ahead does not show what is between', async () => {
    const { machine, buffer, picture, shown, currentInterval } = createVideoSyncFixture();
    picture.latencyMs = 40_000;
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    shown.length = 0;
    picture.latencyMs = 8_000;
    const to = currentInterval();
    await machine.advance(2_000);
    expect(shown[0]).toBe(`jump ${to}`);
    expect(shown.slice(1)).toEqual(range(to, currentInterval()));
  });

  test('to where nothing is held after a long pause shows all that was', async () => {
    const { machine, buffer, picture, shown, requests } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    requests.length = 0;
    const heldMs = machine.nowMs - picture.latencyMs;
    const paused = { wallClockMs: () => heldMs };
    buffer.follow(paused);
    await machine.advance(15 * MINUTE_MS);
    const { length } = shown;
    picture.latencyMs = machine.nowMs - heldMs;
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    expect(shown.length - length).toBeGreaterThan(230);
    expect(isInOrder(shown.slice(length - 1))).toBe(true);
    // No more than 10 minutes are held, and half a minute around what is shown.
    expect(requests.length).toBeGreaterThan(100);
  });
});

describe('a show that is over', () => {
  test('is requests for as it comes on buffer, each once, and a little ahead', async () => {
    const { machine, buffer, picture, shown, requests, currentInterval } = createVideoSyncFixture({
      hasFeed: false,
    });
    picture.latencyMs = 3_600_000;
    const first = currentInterval();
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    expect(shown).toEqual(range(first, currentInterval()));
    expect(requests.length).toBeLessThanOrEqual(shown.length + 4);
  });

  test('plays at twice the pace', async () => {
    const { machine, buffer, shown, picture } = createVideoSyncFixture({ hasFeed: false });
    const startMs = machine.nowMs;
    const fast = { wallClockMs: () => startMs - 3_600_000 + 2 * (machine.nowMs - startMs) };
    buffer.follow(fast);
    await machine.advance(MINUTE_MS);
    expect(shown.length).toBeGreaterThan(475);
    expect(isInOrder(shown)).toBe(true);
    expect(picture.isAvailable).toBe(true);
  });

  test('goes on after trouble of the service, with what was missed', async () => {
    const { machine, buffer, picture, shown, requests, service, currentInterval } =
      createVideoSyncFixture({
        hasFeed: false,
      });
    picture.latencyMs = 3_600_000;
    const first = currentInterval();
    buffer.follow(picture);
    await machine.advance(10_000);
    requests.length = 0;
    service.error = new FourbeatError('unavailable', 'nobody is there', 503, 2_000);
    await machine.advance(20_000);
    expect(requests.length).toBeLessThan(20);
    service.error = null;
    await machine.advance(MINUTE_MS);
    expect(shown).toEqual(range(first, currentInterval()));
  });

  test('passes over what was missed when it is too much', async () => {
    const { machine, buffer, picture, shown, service, currentInterval } = createVideoSyncFixture({
      hasFeed: false,
    });
    picture.latencyMs = 3_600_000;
    buffer.follow(picture);
    await machine.advance(10_000);
    service.error = new FourbeatError('unavailable', 'nobody is there');
    await machine.advance(2 * MINUTE_MS);
    service.error = null;
    await machine.advance(30_000);
    expect(shown.some((one) => typeof one === 'string')).toBe(true);
    expect(shown.at(-1)).toBe(currentInterval());
  });

  test('of which the feed lost the end is requests for from there on', async () => {
    const { machine, buffer, picture, shown, feed, currentInterval } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(20_000);
    feed.isOn = false;
    await machine.advance(20_000);
    expect(shown.at(-1)).toBe(feed.next - 1);
    buffer.replay();
    await machine.advance(20_000);
    expect(shown.at(-1)).toBe(currentInterval());
    expect(isInOrder(shown)).toBe(true);
  });
});
