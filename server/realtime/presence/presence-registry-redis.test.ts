import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import type { FunctionCall } from '../../storage/redis/redis.ts';
import { createRedisPresence } from './presence-registry-redis.ts';

const NOW_MS = 1_700_000_000_000;

/** A registry on a Redis that has one seat of a stream. The test decides when its replies arrive. */
function setUp() {
  const state = { hasSeat: true, evictions: Promise.resolve(), reads: Promise.resolve() };
  const callAll = async (calls: readonly FunctionCall[]): Promise<unknown[]> => {
    if (calls[0]?.name === 'fourbeat_expel') {
      await state.evictions;
      state.hasSeat = false;
      return calls.map(() => 1);
    }
    const seats = new Uint8Array([state.hasSeat ? 1 : 0]);
    await state.reads;
    return [[], seats];
  };
  const presence = createRedisPresence({
    redis: {
      callAll,
      call: () => Promise.reject(new Error('unused')),
      unavailableReason: () => null,
    },
    clock: { nowMs: () => NOW_MS },
    serviceId: 'test',
    watermark: () => intervalAt(NOW_MS) - 1,
  });
  return { state, presence };
}

describe('a registry on Redis', () => {
  test('[C-19] does not count a seat that is evicted while the count is being read', async () => {
    const { state, presence } = setUp();
    const reply = Promise.withResolvers<void>();
    state.reads = reply.promise;
    const count = presence.count('stream');
    await presence.evict('stream', [0]);
    reply.resolve();
    expect([await count, await presence.count('stream')]).toEqual([0, 0]);
  });

  test('[C-19] does not keep a count that it read before Redis evicted the seat', async () => {
    const { state, presence } = setUp();
    const reply = Promise.withResolvers<void>();
    state.evictions = reply.promise;
    const eviction = presence.evict('stream', [0]);
    expect(await presence.count('stream')).toBe(1);
    reply.resolve();
    await eviction;
    expect(await presence.count('stream')).toBe(0);
  });
});
