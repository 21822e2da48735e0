import { INTERVAL_MS, intervalAt } from '../../../protocol/interval.ts';
import type { FourbeatError } from '../../../sdk/errors.ts';
import { Screen } from '../../../sdk/screen.ts';
import { FakeMachine } from './fake-environment.ts';

export const MINUTE_MS = 60_000;

/** A viewer whose feed comes as it happens, and a picture that is late by some time. */
export function begin({ hasFeed = true } = {}) {
  const machine = new FakeMachine();
  /** What was shown, and `jump` for each jump. */
  const told: (number | string)[] = [];
  /** What was asked for, and when. */
  const asked: { interval: number; atMs: number }[] = [];
  const service = { trouble: null as FourbeatError | null, delayMs: 20 };
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

export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

export function isInOrder(told: readonly (number | string)[]): boolean {
  return told.every((one, at) => at === 0 || one === Number(told[at - 1]) + 1);
}

export function countIn(asked: readonly { atMs: number }[], fromMs: number): number {
  return asked.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 1_000).length;
}
