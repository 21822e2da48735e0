import { afterEach, expect, test } from 'bun:test';
import { leaveAll, world } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

test.each(['null', '<html>'])(
  'an interval that is %p, as of something on the way, is asked for less and less, and then passed over',
  async (text) => {
    const { machine, join } = world();
    const broken = { interval: 0, asked: 0 };
    const environment = {
      ...machine.environment,
      fetch: async (url: string, init?: RequestInit) => {
        const answer = await machine.environment.fetch(url, init);
        if (!url.endsWith(`=${broken.interval}`)) return answer;
        broken.asked += 1;
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
    expect(broken.asked).toBeLessThan(12);
  },
);
