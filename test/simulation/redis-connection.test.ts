import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../server/platform/errors.ts';
import type { FunctionCall, Redis } from '../../server/storage/redis/redis.ts';
import { redisOfFile } from '../support/backends/redis-of-file.ts';
import { modelOfFile } from '../support/simulation/redis/model-of-file.ts';

const BACKENDS = [
  { name: 'Redis', ...(await redisOfFile({ persistence: false })) },
  { name: 'the model of Redis', ...(await modelOfFile()) },
];
const KEYS = ['state', 'nodes', 'parts', 'labels', 'watched', 'log'].map((name) => `{f}:${name}`);
const LOG = '{f}:log';

/** A call that appends to the log once. No timeline of the database is named. */
const publish = (interval: number): FunctionCall => {
  return {
    name: 'fourbeat_publish',
    keys: KEYS,
    values: [interval, `body ${interval}`, interval - 1, ''],
  };
};

async function reconnected(redis: Redis): Promise<void> {
  while (redis.unavailableReason() !== null) await Bun.sleep(5);
}

describe.each(BACKENDS)('a connection to $name', ({ server, redis }) => {
  const length = async () => Number(await server.command('XLEN', LOG));

  test('[N-9] executes the calls of a pause after it, although they failed', async () => {
    server.pause();
    const results = await Promise.allSettled([redis.call(publish(1)), redis.call(publish(2))]);
    for (const result of results) {
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(Unavailable);
    }
    server.resume();
    await reconnected(redis);
    expect(await length()).toBe(2);
  });

  test('[N-4] reads entries in order, and waits for the next', async () => {
    await server.command('FLUSHALL');
    for (const interval of [3, 4]) await redis.call(publish(interval));
    const idsAfter = async (id: string, waitMs: number) =>
      (await redis.readLog(LOG, id, waitMs)).map((entry) => entry.id);
    expect(await idsAfter('0-0', 10)).toEqual(['3-0', '4-0']);
    expect(await idsAfter('3-0', 10)).toEqual(['4-0']);
    expect(await idsAfter('4-0', 10)).toEqual([]);
    const [next] = await Promise.all([idsAfter('4-0', 1_000), redis.call(publish(5))]);
    expect(next).toEqual(['5-0']);
    // The stream that it waits for does not exist yet.
    const [first] = await Promise.all([
      redis.readLog('{f}:another', '0-0', 1_000),
      server.command('XADD', '{f}:another', '1-1', 'b', 'x'),
    ]);
    expect(first.map(({ id }) => id)).toEqual(['1-1']);
  });

  test('[N-9] replies to the calls of one turn in their order, with errors in their places', async () => {
    await server.command('FLUSHALL');
    await server.command('SET', '{f}:text', 'x');
    const wrong = { name: 'fourbeat_leave', keys: KEYS.map(() => '{f}:text'), values: ['a'] };
    const results = await Promise.allSettled(
      [publish(7), wrong, publish(7), publish(8)].map((call) => redis.call(call)),
    );
    expect(
      results.map((result) =>
        result.status === 'fulfilled' ? (result.value as number[])[0] : 'error',
      ),
    ).toEqual([1, 'error', 0, 1]);
    expect(String((results[1] as PromiseRejectedResult).reason)).toContain('WRONGTYPE');
    const unknown = redis.call({ name: 'fourbeat_unknown', keys: ['{f}:text'], values: [] });
    expect(String(await unknown.catch((error: Error) => error))).toContain('Function not found');
  });
});
