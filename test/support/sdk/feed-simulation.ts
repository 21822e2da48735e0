import { FourbeatError } from '../../../sdk/errors.ts';
import { Feed, type Transport } from '../../../sdk/feed/feed.ts';
import { FakeMachine } from './fake-environment.ts';
import { FeedFixture } from './feed-fixture.ts';

export interface World {
  readonly machine: FakeMachine;
  readonly fixture: FeedFixture;
}

export const MINUTE_MS = 60_000;
export const UNAVAILABLE = new FourbeatError('away', 'nobody is there');

/** @param random always in the middle by default */
export function world(random = () => 0.5): World {
  const machine = new FakeMachine({ random });
  return { machine, fixture: new FeedFixture(machine) };
}

interface FollowOptions {
  readonly transport?: Transport;
  readonly catchUpMs?: number;
}

/** A viewer's feed, and all that is told of it. */
export function follow(
  { machine, fixture }: World,
  { transport = 'auto', catchUpMs = MINUTE_MS }: FollowOptions = {},
) {
  const told: number[] = [];
  const listener = { onTold: () => {} };
  const states: string[] = [];
  const gaps: [number, number][] = [];
  const clock = {
    /** How far the clock is off, and how far it knows that it may be. */
    offMs: 0,
    errorMs: 20,
    looks: 0,
    nowMs: () => machine.nowMs + clock.offMs,
    look: () => {
      clock.looks++;
    },
  };
  const feed = new Feed(machine.environment, clock, fixture, transport, catchUpMs, {
    onInterval: ({ interval }) => {
      told.push(interval);
      listener.onTold();
    },
    onState: (state, trouble) => states.push(trouble ? `${state}: ${trouble.message}` : state),
    onGap: (from, to) => gaps.push([from, to]),
  });
  // As soon as a clock is synced.
  void Promise.resolve().then(() => feed.start(0));
  return { feed, told, states, gaps, clock, listener };
}

/** All from the first to the last. */
export function range(first = 0, last = 0): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

export function countBy({ fixture }: World, by: 'poll' | 'stream'): number {
  return fixture.asked.filter((one) => one.by === by).length;
}

/** The most requests that begin in one second. */
export function peak({ fixture }: World, fromMs: number): number {
  const times = fixture.asked.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
  return Math.max(...times.map((ms) => times.filter((at) => at >= ms && at < ms + 1_000).length));
}

export const WAYS: [Transport][] = [['auto'], ['stream'], ['poll']];
