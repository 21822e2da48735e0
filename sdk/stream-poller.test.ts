import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { StreamPoller } from './stream-poller.ts';
import type { Stream } from './types.ts';

function watching() {
  const machine = new FakeMachine();
  const startMs = machine.nowMs;
  const looks: number[] = [];
  const seen: string[] = [];
  const service = { status: 'STREAMING' as Stream['status'], isAway: false };
  const stream = async () => {
    looks.push(machine.nowMs - startMs);
    if (service.isAway) throw new FourbeatError('unavailable', 'no answer');
    return { status: service.status } as Stream;
  };
  const watch = new StreamPoller(machine.environment, stream, ({ status }) => seen.push(status));
  return { machine, looks, seen, service, watch };
}

describe('the stream', () => {
  test('is looked at at once, and then each 15 s', async () => {
    const { machine, looks, seen, watch } = watching();
    await watch.poll();
    expect(seen).toEqual(['STREAMING']);
    await machine.advance(45_000);
    expect(looks).toEqual([0, 15_000, 30_000, 45_000]);
  });

  test('that has not begun is looked at each 5 s, until it has', async () => {
    const { machine, looks, seen, service, watch } = watching();
    service.status = 'CREATED';
    await watch.poll();
    await machine.advance(7_000);
    service.status = 'STREAMING';
    await machine.advance(20_000);
    expect(looks).toEqual([0, 5_000, 10_000, 25_000]);
    expect(seen).toEqual(['CREATED', 'CREATED', 'STREAMING', 'STREAMING']);
  });

  test('is looked at again after trouble, no sooner', async () => {
    const { machine, looks, seen, service, watch } = watching();
    await watch.poll();
    service.isAway = true;
    await machine.advance(15_000);
    service.isAway = false;
    await machine.advance(15_000);
    expect(looks).toEqual([0, 15_000, 30_000]);
    expect(seen).toEqual(['STREAMING', 'STREAMING']);
  });

  test('that was never seen is looked for more often', async () => {
    const { machine, looks, seen, service, watch } = watching();
    service.isAway = true;
    await watch.poll();
    service.isAway = false;
    await machine.advance(5_000);
    expect(looks).toEqual([0, 5_000]);
    expect(seen).toEqual(['STREAMING']);
  });

  test('that has ended is not looked at any more', async () => {
    const { machine, looks, seen, service, watch } = watching();
    await watch.poll();
    service.status = 'ENDED';
    await machine.advance(60_000);
    expect(looks).toEqual([0, 15_000]);
    expect(seen).toEqual(['STREAMING', 'ENDED']);
    expect(machine.pendingTimers).toBe(0);
  });

  test('is told to nobody who has left', async () => {
    const { machine, seen, watch } = watching();
    const look = watch.poll();
    watch.stop();
    await look;
    expect(seen).toEqual([]);
    expect(machine.pendingTimers).toBe(0);
  });
});
