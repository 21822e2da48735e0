import { afterEach, describe, expect, test } from 'bun:test';
import type { Environment } from '../sdk/environment.ts';
import { createJoinFixture, leaveAll } from '../test/support/sdk/join-fixture.ts';
import type { EventsInterval } from './types.ts';

afterEach(leaveAll);

/** What other programs answer, such as a proxy whose service is being replaced. */
const BODIES = [
  '{"maintenance":true}',
  '{"id":"x","status":"ok"}',
  '{"status":503}',
  '{"status":"ENDED"}',
  '[]',
  '"OK"',
  '7',
  'null',
  '',
  '<!doctype html>',
  '{"interval":"x","events":[]}',
  '{"interval":1,"events":[]}',
  '{"interval":9000000000000000,"events":[]}',
];

/** A viewer whose requests for the feed get these bodies, with status 200, while `isForeign`. */
function viewerBehindProxy(transport: 'poll' | 'stream' | 'auto', body: string) {
  const fixture = createJoinFixture();
  const proxy = { isForeign: false, requests: 0 };
  const fetch: Environment['fetch'] = async (url, init) => {
    const isFeed = url.includes('?interval=');
    if (!isFeed || !proxy.isForeign) return fixture.machine.environment.fetch(url, init);
    proxy.requests++;
    const isStream = new Headers(init?.headers).get('accept') === 'text/event-stream';
    return new Response(isStream ? `data: ${body}\n\n` : body);
  };
  const environment = { ...fixture.machine.environment, fetch };
  return { ...fixture, proxy, viewer: fixture.join({ transport, environment }) };
}

describe.each(['poll', 'stream', 'auto'] as const)('[F-10] with the transport %s', (transport) => {
  test.each(BODIES)('the feed continues after responses that are %s', async (body) => {
    const { machine, proxy, service, viewer } = viewerBehindProxy(transport, body);
    await machine.advance(5_000);
    expect(viewer.state).toBe('live');
    proxy.isForeign = true;
    service.breakStreams();
    await machine.advance(60_000);
    // With an increasing backoff: an event stream and polls, each every 8 s at the end.
    expect(proxy.requests).toBeLessThan(30);
    proxy.isForeign = false;
    await machine.advance(30_000);
    const intervals: EventsInterval[] = [];
    viewer.on('interval', (interval) => void intervals.push(interval));
    await machine.advance(10_000);
    expect(intervals.length).toBeGreaterThanOrEqual(40);
    await machine.advance(30_000);
    expect(viewer.state).toBe('live');
  });
});

test.each(BODIES)('[S-17] the stream stays as it was after responses that are %s', async (body) => {
  const fixture = createJoinFixture();
  let isForeign = false;
  let requests = 0;
  const viewer = fixture.join({
    environment: {
      ...fixture.machine.environment,
      fetch: async (url, init) => {
        if (!isForeign || !/\/streams\/[^/]+\/$/.test(url)) {
          return fixture.machine.environment.fetch(url, init);
        }
        requests++;
        return new Response(body);
      },
    },
  });
  await fixture.machine.advance(5_000);
  const before = viewer.snapshot.stream;
  expect(before?.status).toBe('STREAMING');
  isForeign = true;
  await fixture.machine.advance(60_000);
  expect(requests).toBeGreaterThan(1);
  expect(viewer.snapshot.stream).toEqual(before);
});

test.each([403, 405, 406, 415])(
  '[F-21] the feed is polled where a proxy refuses event streams with %d',
  async (status) => {
    const fixture = createJoinFixture();
    const fetch: Environment['fetch'] = (url, init) =>
      new Headers(init?.headers).get('accept') === 'text/event-stream'
        ? Promise.resolve(new Response(null, { status }))
        : fixture.machine.environment.fetch(url, init);
    const viewer = fixture.join({ environment: { ...fixture.machine.environment, fetch } });
    await fixture.machine.advance(30_000);
    expect(viewer.state).toBe('live');
  },
);

test.each(['poll', 'stream', 'auto'] as const)(
  '[F-10] with the transport %s responses of another program make the viewer `offline`',
  async (transport) => {
    const { machine, proxy, service, viewer } = viewerBehindProxy(transport, BODIES[0] ?? '');
    await machine.advance(5_000);
    proxy.isForeign = true;
    service.breakStreams();
    await machine.advance(20_000);
    expect(viewer.state).toBe('offline');
  },
);
