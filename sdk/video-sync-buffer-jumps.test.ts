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

describe('a picture that jumps', () => {
  test('back a little shows buffered intervals, without requests', async () => {
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

  test('far back requests intervals, few at a time, up to those of the feed', async () => {
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
    // Intervals from 30 s before the jump on are buffered.
    expect(requests.length).toBeLessThan(32_000 / INTERVAL_MS);
    expect(
      Math.max(...requests.map(({ atMs }) => countInSecond(requests, atMs))),
    ).toBeLessThanOrEqual(10);
  });

  test('ahead skips the intervals between', async () => {
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

  test('nowhere after a long pause shows all intervals', async () => {
    const { machine, buffer, picture, shown, requests } = createVideoSyncFixture();
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    requests.length = 0;
    const pausedAtMs = machine.nowMs - picture.latencyMs;
    const paused = { wallClockMs: () => pausedAtMs };
    buffer.follow(paused);
    await machine.advance(15 * MINUTE_MS);
    const { length } = shown;
    picture.latencyMs = machine.nowMs - pausedAtMs;
    buffer.follow(picture);
    await machine.advance(MINUTE_MS);
    expect(shown.length - length).toBeGreaterThan(230);
    expect(isInOrder(shown.slice(length - 1))).toBe(true);
    // At most 10 minutes, and 30 s around the position, are buffered.
    expect(requests.length).toBeGreaterThan(100);
  });
});

describe('a show that is over', () => {
  test('is requested slightly ahead of playback, each interval once', async () => {
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

  test('plays at double rate', async () => {
    const { machine, buffer, shown } = createVideoSyncFixture({ hasFeed: false });
    const startMs = machine.nowMs;
    const fast = { wallClockMs: () => startMs - 3_600_000 + 2 * (machine.nowMs - startMs) };
    buffer.follow(fast);
    await machine.advance(MINUTE_MS);
    expect(shown.length).toBeGreaterThan(475);
    expect(isInOrder(shown)).toBe(true);
  });

  test('continues after an outage, with the missed intervals', async () => {
    const { machine, buffer, picture, shown, requests, service, currentInterval } =
      createVideoSyncFixture({
        hasFeed: false,
      });
    picture.latencyMs = 3_600_000;
    const first = currentInterval();
    buffer.follow(picture);
    await machine.advance(10_000);
    requests.length = 0;
    service.error = new FourbeatError('unavailable', 'unavailable', 503, 2_000);
    await machine.advance(20_000);
    expect(requests.length).toBeLessThan(20);
    service.error = null;
    await machine.advance(MINUTE_MS);
    expect(shown).toEqual(range(first, currentInterval()));
  });

  test('skips missed intervals when there are too many', async () => {
    const { machine, buffer, picture, shown, service, currentInterval } = createVideoSyncFixture({
      hasFeed: false,
    });
    picture.latencyMs = 3_600_000;
    buffer.follow(picture);
    await machine.advance(10_000);
    service.error = new FourbeatError('unavailable', 'unavailable');
    await machine.advance(2 * MINUTE_MS);
    service.error = null;
    await machine.advance(30_000);
    expect(shown.some((entry) => typeof entry === 'string')).toBe(true);
    expect(shown.at(-1)).toBe(currentInterval());
  });

  test('requests the end that the feed did not bring', async () => {
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
