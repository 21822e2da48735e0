import { describe, expect, test } from 'bun:test';
import type { BunRequest } from 'bun';
import type { StudioContext } from '../../auth/studio-handler.ts';
import type { Route } from '../../http/route.ts';
import { RateLimited } from '../../platform/errors.ts';
import { openStateStream } from '../presenter/state-stream.ts';
import { LiveShows } from './live-shows.ts';
import type { LiveShow } from './live-sql.ts';
import { ACCOUNT_STREAMS_MAX, CALLER_STREAMS_MAX } from './open-stream-limit.ts';
import { ShowStreams } from './show-streams.ts';

const NOT_ABORTED = new AbortController().signal;

/** Streams of shows without a network; `states` has the formats of the states that were made. */
function fixture() {
  const states: string[] = [];
  let tick = () => {};
  let nowMs = 0;
  const shows = new LiveShows({
    nowMs: () => ++nowMs,
    read: async () => ({}) as LiveShow,
    countAnswers: async () => ({ counts: [], nextSeat: null }),
    count: () => 0,
    startPolling: (each) => {
      tick = each;
      return () => {};
    },
    onError: (error) => {
      throw error;
    },
  });
  const context = { log: { requestId: () => 'id' } } as unknown as StudioContext;
  const streams = new ShowStreams(context, shows);
  return {
    states,
    open(
      caller: string,
      { producer = 'me', format = 'present', method = 'GET', signal = NOT_ABORTED } = {},
    ) {
      const request = { method, signal } as BunRequest<string>;
      return streams.respond(request, { headers: {} } as Route, {
        ...{ streamId: 'a', producer, caller, format },
        authorizeAgain: async () => {},
        open: openStateStream,
        stateOf: (moment) => {
          states.push(format);
          return { now: moment.nowMs };
        },
      });
    },
    async tick() {
      tick();
      for (let n = 0; n < 8; n++) await Promise.resolve();
    },
    stop: () => streams.stop(),
  };
}

describe('the event streams of a show', () => {
  test('[B-1] all streams with the same format share one message of each state', async () => {
    const { open, tick, states, stop } = fixture();
    const responses = [1, 2, 3].map((n) => open(`member ${n}`));
    const others = [1, 2].map((n) => open(`member ${n}`, { format: 'live' }));
    await tick();
    await tick();
    expect(states.length).toBeGreaterThanOrEqual(4);
    expect(states.filter((format) => format === 'live').length).toBe(states.length / 2);
    const before = states.length;
    await tick();
    expect(states.slice(before).sort()).toEqual(['live', 'present']);
    stop();
    const texts = await Promise.all([...responses, ...others].map((response) => response.text()));
    const newest = `data: {"now":${states.length / 2}}\n\n`;
    for (const text of texts) expect(text).toEndWith(newest);
  });

  test('[B-19] a caller has at most 50 streams open, until one of them ends; others have their own', async () => {
    const { open, stop } = fixture();
    const responses = Array.from({ length: CALLER_STREAMS_MAX }, () => open('a member'));
    expect(() => open('a member')).toThrow(RateLimited);
    expect(() => open('a member', { method: 'HEAD' })).toThrow(RateLimited);
    expect(open('another member').status).toBe(200);
    await responses[0]?.body?.cancel();
    for (let n = 0; n < 2; n++) expect(open('a member', { method: 'HEAD' }).status).toBe(200);
    expect(open('a member').status).toBe(200);
    expect(() => open('a member')).toThrow(RateLimited);
    stop();
  });

  test('[B-19] a stream ends when its client has left, also before it began', async () => {
    const { open, stop } = fixture();
    const client = new AbortController();
    for (let n = 0; n < CALLER_STREAMS_MAX; n++) open('a member', { signal: client.signal });
    client.abort();
    for (let n = 0; n <= CALLER_STREAMS_MAX; n++) {
      expect(open('a member', { signal: client.signal }).status).toBe(200);
    }
    stop();
  });

  test('[B-19] an account has at most 100 streams open; other accounts have their own', () => {
    const { open, stop } = fixture();
    for (let n = 0; n < ACCOUNT_STREAMS_MAX; n++) open(`member ${n}`);
    expect(() => open('a further member')).toThrow(RateLimited);
    expect(open('a member', { producer: 'another' }).status).toBe(200);
    stop();
  });
});
