import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, type World, world } from '../test/support/sdk/join-fixture.ts';
import type { Viewer } from './viewer.ts';

afterEach(leaveAll);

const isTime = ({ path }: { path: string }) => path.endsWith('/time');
const page = async () => new Response('<html>Pay for your coffee</html>');

/** @returns for how long the viewer was in another state than this one, ms */
async function msUntil(state: Viewer['state'], viewer: Viewer, { machine }: World) {
  const fromMs = machine.nowMs;
  while (viewer.state !== state && machine.nowMs < fromMs + 60_000) await machine.advance(50);
  return machine.nowMs - fromMs;
}

describe('a service that cannot be reached when one joins', () => {
  test.each([
    ['refuses connections', { how: 'cut' }, 'away', 3_500],
    ['says 503', { how: 503 }, 'away', 3_500],
    ['is a page that is not there', { how: 404 }, 'unknown', 3_500],
    ['asks too much patience of all', { how: 429 }, 'busy', 3_500],
    ['is silent', { how: 'silence' }, 'away', 6_500],
    ['does not tell the time', { how: 503, when: isTime }, 'away', 3_500],
  ] as const)('and %s is said to be so, and then heals', async (_, fault, kind, withinMs) => {
    const it = world();
    const mend = it.service.fail(fault);
    const viewer = it.join();
    expect(await msUntil('offline', viewer, it)).toBeLessThanOrEqual(withinMs);
    expect(viewer.snapshot.trouble?.kind).toBe(kind);
    await it.machine.advance(30_000);
    expect(viewer.state).toBe('offline');
    mend();
    expect(await msUntil('live', viewer, it)).toBeLessThanOrEqual(9_000);
    expect(viewer.snapshot.trouble).toBeNull();
    await it.machine.advance(6_500);
    expect(viewer.snapshot.stream?.status).toBe('STREAMING');
  });

  test('as something on the way answers for it is said to be away', async () => {
    const it = world();
    const viewer = it.join({ environment: { ...it.machine.environment, fetch: page } });
    expect(await msUntil('offline', viewer, it)).toBeLessThanOrEqual(3_500);
    expect(viewer.snapshot.trouble?.kind).toBe('away');
  });

  test('is waited for quietly, with a try each 5 s', async () => {
    const it = world();
    it.service.fail({ how: 'cut' });
    it.join();
    await it.machine.advance(10_000);
    it.requests.length = 0;
    await it.machine.advance(60_000);
    expect(it.requests.length).toBeLessThan(60);
  });
});

describe('in the middle of a show', () => {
  /** One who is live, and whose connections are lost without a word. */
  async function cutOff(transport: 'auto' | 'stream' | 'poll', how: 'cut' | 'silence') {
    const it = world();
    let isLost = false;
    const fetch: typeof it.machine.environment.fetch = async (url, init) => {
      const answer = await it.machine.environment.fetch(url, init);
      if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer;
      const wasLost = isLost;
      const transform = (bytes: Uint8Array, sink: TransformStreamDefaultController) => {
        if (isLost === wasLost) sink.enqueue(bytes);
      };
      return new Response(answer.body?.pipeThrough(new TransformStream({ transform })), answer);
    };
    const viewer = it.join({ transport, environment: { ...it.machine.environment, fetch } });
    await it.machine.advance(5_000);
    expect(viewer.state).toBe('live');
    const mend = it.service.fail({ how });
    isLost = true;
    return { it, viewer, mend };
  }

  test.each(['auto', 'stream', 'poll'] as const)(
    'a feed that hangs is `offline` in 3 s, when heartbeats fail: %s',
    async (transport) => {
      const { it, viewer } = await cutOff(transport, 'cut');
      expect(await msUntil('offline', viewer, it)).toBeLessThanOrEqual(3_250);
      expect(viewer.snapshot.trouble?.kind).toBe('away');
    },
  );

  test.each(['auto', 'stream', 'poll'] as const)(
    'who was offline for long is live 3 s after a heartbeat got through: %s',
    async (transport) => {
      const { it, viewer, mend } = await cutOff(transport, 'cut');
      // Waits have grown to 15 s.
      await it.machine.advance(45_000);
      expect(viewer.state).toBe('offline');
      mend();
      const liveMs = await msUntil(transport === 'poll' ? 'catching-up' : 'live', viewer, it);
      expect(liveMs).toBeLessThanOrEqual(3_000);
    },
  );

  test('a feed that is in trouble alone waits as long as ever', async () => {
    const it = world();
    it.join();
    await it.machine.advance(5_000);
    it.service.fail({ how: 503, when: ({ path }) => path.includes('/events-streams/') });
    it.service.cutStreams();
    await it.machine.advance(60_000);
    it.requests.length = 0;
    await it.machine.advance(60_000);
    const asked = it.requests.filter((one) => one.includes('/events-streams/'));
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.length).toBeLessThan(8);
  });

  test('[G-27] a feed that is to wait is not asked for sooner, whatever else gets through', async () => {
    const it = world();
    it.join();
    await it.machine.advance(5_000);
    const isFeed = ({ path }: { path: string }) => path.includes('/events-streams/');
    it.service.fail({ how: 503, retryAfterS: 20, when: isFeed });
    const mend = it.service.fail({ how: 503 });
    it.service.cutStreams();
    await it.machine.advance(4_000);
    it.requests.length = 0;
    mend();
    await it.machine.advance(14_000);
    expect(it.requests.filter((one) => one.includes('/events-streams/'))).toEqual([]);
  });

  test('heartbeats that fail are no outage while the feed comes', async () => {
    const it = world();
    const viewer = it.join();
    await it.machine.advance(5_000);
    it.service.fail({ how: 503, when: ({ path }) => path.includes('/view-counts/') });
    await it.machine.advance(20_000);
    expect(viewer.state).toBe('live');
  });
});
