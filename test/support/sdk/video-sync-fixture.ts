import { INTERVAL_MS, intervalAt } from '../../../protocol/interval.ts';
import type { FourbeatError } from '../../../sdk/errors.ts';
import { VideoSyncBuffer } from '../../../sdk/video-sync-buffer.ts';
import { FakeMachine } from './fake-environment.ts';

export const MINUTE_MS = 60_000;

/** A buffer with a live feed and a picture that is behind it. */
export function createVideoSyncFixture({ hasFeed = true } = {}) {
  const machine = new FakeMachine();
  /** Intervals shown, and `jump N` for each jump. */
  const shown: (number | string)[] = [];
  /** Requests for missing intervals. */
  const requests: { interval: number; atMs: number }[] = [];
  const service = { error: null as FourbeatError | null, delayMs: 20 };
  const picture = {
    /** How far the picture is behind the feed. */
    latencyMs: 8_000,
    isAvailable: true,
    wallClockMs: () => (picture.isAvailable ? machine.nowMs - picture.latencyMs : null),
  };
  const api = {
    interval: async (interval: number) => {
      requests.push({ interval, atMs: machine.nowMs });
      await machine.wait(service.delayMs);
      if (service.error) throw service.error;
      return { interval, events: [] };
    },
  };
  const buffer = new VideoSyncBuffer(machine.environment, api, {
    onInterval: ({ interval }) => shown.push(interval),
    onJump: (interval) => shown.push(`jump ${interval}`),
  });
  const feed = { next: intervalAt(machine.nowMs), isOn: hasFeed };
  const deliver = () => {
    machine.environment.after(INTERVAL_MS, deliver);
    for (; feed.isOn && feed.next < intervalAt(machine.nowMs); feed.next++) {
      buffer.push({ interval: feed.next, events: [] });
    }
  };
  deliver();
  const currentInterval = () => intervalAt(machine.nowMs - picture.latencyMs);
  return { machine, buffer, picture, shown, requests, service, feed, currentInterval };
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function isInOrder(shown: readonly (number | string)[]): boolean {
  return shown.every((entry, index) => index === 0 || entry === Number(shown[index - 1]) + 1);
}

export function countInSecond(requests: readonly { atMs: number }[], fromMs: number): number {
  return requests.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 1_000).length;
}
