import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { StreamPoller } from './stream-poller.ts';
import type { Stream } from './types.ts';

function createPoller() {
  const machine = new FakeMachine();
  const startMs = machine.nowMs;
  const pollsMs: number[] = [];
  const statuses: string[] = [];
  const service = { status: 'STREAMING' as Stream['status'], isUnavailable: false };
  const stream = async () => {
    pollsMs.push(machine.nowMs - startMs);
    if (service.isUnavailable) throw new FourbeatError('unavailable', 'no answer');
    return { status: service.status } as Stream;
  };
  const poller = new StreamPoller(machine.environment, stream, ({ status }) =>
    statuses.push(status),
  );
  return { machine, pollsMs, statuses, service, poller };
}

describe('the stream', () => {
  test('is polled at once, and then every 15 s', async () => {
    const { machine, pollsMs, statuses, poller } = createPoller();
    await poller.poll();
    expect(statuses).toEqual(['STREAMING']);
    await machine.advance(45_000);
    expect(pollsMs).toEqual([0, 15_000, 30_000, 45_000]);
  });

  test('is polled every 5 s until it has started', async () => {
    const { machine, pollsMs, statuses, service, poller } = createPoller();
    service.status = 'CREATED';
    await poller.poll();
    await machine.advance(7_000);
    service.status = 'STREAMING';
    await machine.advance(20_000);
    expect(pollsMs).toEqual([0, 5_000, 10_000, 25_000]);
    expect(statuses).toEqual(['CREATED', 'CREATED', 'STREAMING', 'STREAMING']);
  });

  test('is polled again after a failure, at the usual interval', async () => {
    const { machine, pollsMs, statuses, service, poller } = createPoller();
    await poller.poll();
    service.isUnavailable = true;
    await machine.advance(15_000);
    service.isUnavailable = false;
    await machine.advance(15_000);
    expect(pollsMs).toEqual([0, 15_000, 30_000]);
    expect(statuses).toEqual(['STREAMING', 'STREAMING']);
  });

  test('is polled more often until the first success', async () => {
    const { machine, pollsMs, statuses, service, poller } = createPoller();
    service.isUnavailable = true;
    await poller.poll();
    service.isUnavailable = false;
    await machine.advance(5_000);
    expect(pollsMs).toEqual([0, 5_000]);
    expect(statuses).toEqual(['STREAMING']);
  });

  test('is not polled any more after it has ended', async () => {
    const { machine, pollsMs, statuses, service, poller } = createPoller();
    await poller.poll();
    service.status = 'ENDED';
    await machine.advance(60_000);
    expect(pollsMs).toEqual([0, 15_000]);
    expect(statuses).toEqual(['STREAMING', 'ENDED']);
    expect(machine.pendingTimers).toBe(0);
  });

  test('is not reported after `stop`', async () => {
    const { machine, statuses, poller } = createPoller();
    const polling = poller.poll();
    poller.stop();
    await polling;
    expect(statuses).toEqual([]);
    expect(machine.pendingTimers).toBe(0);
  });
});
