import { afterEach, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

test('after the end of a show no requests are sent until the viewer writes', async () => {
  const { machine, service, requests, join } = createJoinFixture();
  const viewer = join();
  await machine.advance(2_000);
  service.setStatus('ENDED');
  await machine.advance(30_000);
  expect(viewer.state).toBe('ended');
  requests.length = 0;
  await machine.advance(3_600_000);
  expect(requests).toEqual([]);
  expect(machine.pendingTimers).toBe(0);
  await viewer.sendMessage('message', 'It was good.');
  expect(requests).toEqual([
    'POST /api/v1/token',
    `POST /api/v1/events-streams/${service.streamId}/chats`,
  ]);
});

test.each([0, 500, 3_000])(
  'a viewer who joins after the end, with a token after %d ms, leaves no timer',
  async (ms) => {
    const { machine, service, join } = createJoinFixture();
    service.setStatus('ENDED');
    const fetch: typeof machine.environment.fetch = async (url, init) => {
      if (url.endsWith('/token'))
        await new Promise<void>((resolve) => machine.environment.after(ms, resolve));
      return machine.environment.fetch(url, init);
    };
    const viewer = join({ environment: { ...machine.environment, fetch } });
    await machine.advance(5_000);
    expect(viewer.state).toBe('ended');
    expect(machine.pendingTimers).toBe(0);
  },
);
