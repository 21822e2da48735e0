import { FourbeatError } from '../../../sdk/errors.ts';
import { Feed, type Transport } from '../../../sdk/feed/feed.ts';
import { FakeMachine } from './fake-environment.ts';
import { FeedFixture } from './feed-fixture.ts';

export const MINUTE_MS = 60_000;
export const UNAVAILABLE = new FourbeatError('unavailable', 'The service is unavailable.');

interface FeedOptions {
  readonly transport?: Transport;
  readonly catchUpMs?: number;
}

/** A service, and one viewer who reads its feed. */
export function startFeed(options?: FeedOptions) {
  const machine = new FakeMachine({ hasPage: true });
  const fixture = new FeedFixture(machine);
  return { machine, fixture, ...createViewerFeed({ machine, fixture }, options) };
}

/** A viewer's feed that records what it delivers. */
export function createViewerFeed(
  { machine, fixture }: { readonly machine: FakeMachine; readonly fixture: FeedFixture },
  { transport = 'auto', catchUpMs = MINUTE_MS }: FeedOptions = {},
) {
  const intervals: number[] = [];
  const listener = { onInterval: () => {} };
  const states: string[] = [];
  const gaps: [number, number][] = [];
  const clock = {
    /** Actual error of the clock; `errorMs` is the reported one. */
    offMs: 0,
    errorMs: 20,
    resyncs: 0,
    nowMs: () => machine.nowMs + clock.offMs,
    resync: () => {
      clock.resyncs++;
    },
  };
  const feed = new Feed(machine.environment, clock, fixture, transport, catchUpMs, {
    onInterval: ({ interval }) => {
      intervals.push(interval);
      listener.onInterval();
    },
    onState: (state, error) => states.push(error ? `${state}: ${error.message}` : state),
    onGap: (from, to) => gaps.push([from, to]),
  });
  // Asynchronously, as after the clock is synced.
  void Promise.resolve().then(() => feed.start(0));
  return { feed, intervals, states, gaps, clock, listener };
}

/** All integers from the first to the last. */
export function range(first = 0, last = 0): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function countRequests(fixture: FeedFixture, transport: 'poll' | 'stream'): number {
  return fixture.requests.filter((request) => request.transport === transport).length;
}

/** Maximum number of requests in one second. */
export function peakRequestsPerSecond(fixture: FeedFixture, fromMs: number): number {
  const times = fixture.requests.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
  return Math.max(...times.map((ms) => times.filter((at) => at >= ms && at < ms + 1_000).length));
}

export const TRANSPORTS: [Transport][] = [['auto'], ['stream'], ['poll']];
