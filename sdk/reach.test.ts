import { afterEach, describe, expect, test } from 'bun:test';
import { createJoinFixture, type JoinFixture, leaveAll } from '../test/support/sdk/join-fixture.ts';
import type { Viewer } from './viewer.ts';

// How soon a viewer notices that the service is unavailable, and that it is available again.

afterEach(leaveAll);

const isTime = ({ path }: { path: string }) => path.endsWith('/time');
const captivePortal = async () => new Response('<html>Pay for your coffee</html>');

/** @returns time until the viewer is in this state, ms */
async function msUntil(state: Viewer['state'], viewer: Viewer, { machine }: JoinFixture) {
  const startMs = machine.nowMs;
  while (viewer.state !== state && machine.nowMs < startMs + 60_000) await machine.advance(50);
  return machine.nowMs - startMs;
}

describe('a service that is unavailable when a viewer joins', () => {
  test.each([
    ['refuses connections', { result: 'cut' }, 'unavailable', 3_500],
    ['responds with 503', { result: 503 }, 'unavailable', 3_500],
    ['responds with 404', { result: 404 }, 'unknown', 3_500],
    ['responds with 429', { result: 429 }, 'busy', 3_500],
    ['is silent', { result: 'silence' }, 'unavailable', 6_500],
    ['fails to serve the time', { result: 503, matches: isTime }, 'unavailable', 3_500],
  ] as const)('and %s is reported as offline, and recovers', async (_, fault, kind, withinMs) => {
    const fixture = createJoinFixture();
    const endFault = fixture.service.fail(fault);
    const viewer = fixture.join();
    expect(await msUntil('offline', viewer, fixture)).toBeLessThanOrEqual(withinMs);
    expect(viewer.snapshot.error?.kind).toBe(kind);
    await fixture.machine.advance(30_000);
    expect(viewer.state).toBe('offline');
    endFault();
    expect(await msUntil('live', viewer, fixture)).toBeLessThanOrEqual(9_000);
    expect(viewer.snapshot.error).toBeNull();
    await fixture.machine.advance(6_500);
    expect(viewer.snapshot.stream?.status).toBe('STREAMING');
  });

  test('because a captive portal responds is reported as `unavailable`', async () => {
    const fixture = createJoinFixture();
    const viewer = fixture.join({
      environment: { ...fixture.machine.environment, fetch: captivePortal },
    });
    expect(await msUntil('offline', viewer, fixture)).toBeLessThanOrEqual(3_500);
    expect(viewer.snapshot.error?.kind).toBe('unavailable');
  });

  test('gets fewer than one request a second', async () => {
    const fixture = createJoinFixture();
    fixture.service.fail({ result: 'cut' });
    fixture.join();
    await fixture.machine.advance(10_000);
    fixture.requests.length = 0;
    await fixture.machine.advance(60_000);
    expect(fixture.requests.length).toBeLessThan(60);
  });
});

describe('in the middle of a show', () => {
  /** A live viewer whose connections then stall. */
  async function joinAndStall(transport: 'auto' | 'stream' | 'poll', result: 'cut' | 'silence') {
    const fixture = createJoinFixture();
    let isStalled = false;
    const fetch: typeof fixture.machine.environment.fetch = async (url, init) => {
      const response = await fixture.machine.environment.fetch(url, init);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      const wasStalled = isStalled;
      const transform = (bytes: Uint8Array, sink: TransformStreamDefaultController) => {
        if (isStalled === wasStalled) sink.enqueue(bytes);
      };
      return new Response(response.body?.pipeThrough(new TransformStream({ transform })), response);
    };
    const viewer = fixture.join({
      transport,
      environment: { ...fixture.machine.environment, fetch },
    });
    await fixture.machine.advance(5_000);
    expect(viewer.state).toBe('live');
    const endFault = fixture.service.fail({ result });
    isStalled = true;
    return { fixture, viewer, endFault };
  }

  test.each(['auto', 'stream', 'poll'] as const)(
    'a feed that hangs is `offline` in 3 s when heartbeats fail: %s',
    async (transport) => {
      const { fixture, viewer } = await joinAndStall(transport, 'cut');
      expect(await msUntil('offline', viewer, fixture)).toBeLessThanOrEqual(3_250);
      expect(viewer.snapshot.error?.kind).toBe('unavailable');
    },
  );

  test.each(['auto', 'stream', 'poll'] as const)(
    'a viewer who was offline for long is live, or catching up by polls, 3 s after the outage: %s',
    async (transport) => {
      const { fixture, viewer, endFault } = await joinAndStall(transport, 'cut');
      // The backoff has grown to 15 s.
      await fixture.machine.advance(45_000);
      expect(viewer.state).toBe('offline');
      endFault();
      const liveMs = await msUntil(transport === 'poll' ? 'catching-up' : 'live', viewer, fixture);
      expect(liveMs).toBeLessThanOrEqual(3_000);
    },
  );

  test('a feed that fails alone keeps its backoff', async () => {
    const fixture = createJoinFixture();
    fixture.join();
    await fixture.machine.advance(5_000);
    fixture.service.fail({ result: 503, matches: ({ path }) => path.includes('/events-streams/') });
    fixture.service.breakStreams();
    await fixture.machine.advance(60_000);
    fixture.requests.length = 0;
    await fixture.machine.advance(60_000);
    const feedRequests = fixture.requests.filter((request) => request.includes('/events-streams/'));
    expect(feedRequests.length).toBeGreaterThan(2);
    expect(feedRequests.length).toBeLessThan(8);
  });

  test('[G-27] a feed is not requested before its Retry-After, also when other requests succeed', async () => {
    const fixture = createJoinFixture();
    fixture.join();
    await fixture.machine.advance(5_000);
    const isFeed = ({ path }: { path: string }) => path.includes('/events-streams/');
    fixture.service.fail({ result: 503, retryAfterSeconds: 20, matches: isFeed });
    const endFault = fixture.service.fail({ result: 503 });
    fixture.service.breakStreams();
    await fixture.machine.advance(4_000);
    fixture.requests.length = 0;
    endFault();
    await fixture.machine.advance(14_000);
    expect(fixture.requests.filter((request) => request.includes('/events-streams/'))).toEqual([]);
  });

  test('[G-27] a viewer is back within 6 minutes after responses that name a day, as from a proxy', async () => {
    const fixture = createJoinFixture();
    const viewer = fixture.join();
    await fixture.machine.advance(5_000);
    const endFault = fixture.service.fail({ result: 503, retryAfterSeconds: 86_400 });
    fixture.service.breakStreams();
    await fixture.machine.advance(10_000);
    expect(viewer.state).toBe('offline');
    endFault();
    await fixture.machine.advance(6 * 60_000);
    expect(viewer.state).toBe('live');
    fixture.requests.length = 0;
    await fixture.machine.advance(10_000);
    expect(fixture.requests.filter((path) => path.includes('/view-counts/'))).toHaveLength(10);
  });

  test('failing heartbeats do not make a viewer offline while the feed arrives', async () => {
    const fixture = createJoinFixture();
    const viewer = fixture.join();
    await fixture.machine.advance(5_000);
    fixture.service.fail({ result: 503, matches: ({ path }) => path.includes('/view-counts/') });
    await fixture.machine.advance(20_000);
    expect(viewer.state).toBe('live');
  });
});

test.each(['null', '<html>'])(
  'an interval whose response is %p is requested less and less often, and then skipped',
  async (text) => {
    const { machine, join } = createJoinFixture();
    const broken = { interval: 0, requests: 0 };
    const environment = {
      ...machine.environment,
      fetch: async (url: string, init?: RequestInit) => {
        const response = await machine.environment.fetch(url, init);
        if (!url.endsWith(`=${broken.interval}`)) return response;
        broken.requests += 1;
        return new Response(text);
      },
    };
    const viewer = join({ transport: 'poll', environment });
    await machine.advance(2_000);
    broken.interval = Math.floor(machine.nowMs / 250) + 4;
    const gaps: number[] = [];
    viewer.on('gap', ({ from }) => gaps.push(from));
    await machine.advance(30_000);
    expect(viewer.state).toBe('offline');
    await machine.advance(150_000);
    expect(viewer.state).toBe('live');
    expect(gaps).toEqual([broken.interval]);
    expect(broken.requests).toBeLessThan(12);
  },
);
