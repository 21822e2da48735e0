import { afterEach, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

test.each(['null', '<html>'])(
  'an interval whose response is %p is requested less and less often, and then skipped',
  async (text) => {
    const { machine, join } = createJoinFixture();
    const broken = { interval: 0, requests: 0 };
    const environment = {
      ...machine.environment,
      fetch: async (url: string, init?: RequestInit) => {
        const answer = await machine.environment.fetch(url, init);
        if (!url.endsWith(`=${broken.interval}`)) return answer;
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
