import { afterEach, expect, test } from 'bun:test';
import { leaveAll, world } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

test('after the end of a show nothing is asked for any more, and no token, until somebody writes', async () => {
  const { machine, service, requests, join } = world();
  const viewer = join();
  await machine.advance(2_000);
  service.setStatus('ENDED');
  await machine.advance(30_000);
  expect(viewer.state).toBe('ended');
  requests.length = 0;
  await machine.advance(3_600_000);
  expect(requests).toEqual([]);
  expect(machine.waiting).toBe(0);
  await viewer.say('message', 'It was good.');
  expect(requests).toEqual([
    'POST /api/v1/token',
    `POST /api/v1/events-streams/${service.streamId}/chats`,
  ]);
});

test.each([0, 500, 3_000])(
  'who joins when it is over, with a token after %d ms, keeps no program from its end',
  async (ms) => {
    const { machine, service, join } = world();
    service.setStatus('ENDED');
    const fetch: typeof machine.environment.fetch = async (url, init) => {
      if (url.endsWith('/token'))
        await new Promise<void>((resolve) => machine.environment.after(ms, resolve));
      return machine.environment.fetch(url, init);
    };
    const viewer = join({ environment: { ...machine.environment, fetch } });
    await machine.advance(5_000);
    expect(viewer.state).toBe('ended');
    expect(machine.waiting).toBe(0);
  },
);
