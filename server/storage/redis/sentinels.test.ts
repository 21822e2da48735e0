import { afterEach, describe, expect, test } from 'bun:test';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { openTestRedis, setCall } from '../../../test/support/backends/redis-client.ts';
import { until } from '../../../test/support/backends/redis-replicated.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import type { Redis } from './redis.ts';
import { parsePrimaryView, Sentinels } from './sentinels.ts';

/** A fake Sentinel that reports the primary that the test sets. */
interface FakeSentinel {
  port: number;
  report: { port: number; epoch: number };
  stop(): void;
}

function createFakeSentinel(report: FakeSentinel['report']): FakeSentinel {
  const bulk = (text: string | number) => `$${String(text).length}\r\n${text}\r\n`;
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        for (const [, name] of bytes.toString().matchAll(/\r\n(CLIENT|SENTINEL)\r\n/gi)) {
          const { port, epoch } = sentinel.report;
          const fields = ['ip', '127.0.0.1', 'port', port, 'config-epoch', epoch];
          const master = `*${fields.length}\r\n${fields.map(bulk).join('')}`;
          socket.write(name?.toUpperCase() === 'CLIENT' ? '+OK\r\n' : master);
        }
      },
    },
  });
  const sentinel = { port: listener.port, report, stop: () => listener.stop(true) };
  return sentinel;
}

describe('[N-15] Sentinels', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function createFixture() {
    const [old, other] = (await Promise.all([startRedis(), startRedis()])) as [
      RedisServer,
      RedisServer,
    ];
    const sentinels = [1, 2, 3].map(() => createFakeSentinel({ port: old.port, epoch: 4 }));
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const redis = await openTestRedis(`redis+sentinel://${hosts}/fourbeat`);
    ends.push(
      ...[old, other].map((server) => () => server.stop()),
      ...sentinels.map(({ stop }) => stop),
      () => redis.close(),
    );
    return { old, other, sentinels, redis };
  }

  const writeReaches = async (redis: Redis, server: RedisServer, value: string) => {
    await redis.call(setCall('{a}', value));
    return (await server.command('GET', '{a}')) === value;
  };

  test('Sentinels that report another primary are followed, although the old one still responds', async () => {
    const { old, other, sentinels, redis } = await createFixture();
    expect(await writeReaches(redis, old, 'first')).toBe(true);
    for (const sentinel of sentinels) sentinel.report = { port: other.port, epoch: 5 };
    await until(() => writeReaches(redis, other, 'second'), 'calls to reach the new primary');
    expect(await writeReaches(redis, other, 'third')).toBe(true);
    expect(await old.command('GET', '{a}')).not.toBe('third');
  });

  test('Sentinels with the newest epoch are followed, and a stalled one is not', async () => {
    const { old, other, sentinels, redis } = await createFixture();
    const [first, second, third] = sentinels as [FakeSentinel, FakeSentinel, FakeSentinel];
    first.report = { port: other.port, epoch: 5 };
    second.report = { port: other.port, epoch: 5 };
    await until(() => writeReaches(redis, other, 'a'), 'calls to reach the new primary');
    first.stop();
    second.stop();
    // Only the Sentinel that reports the old primary still runs.
    expect(third.report.port).toBe(old.port);
    await other.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await until(() => writeReaches(redis, other, 'b'), 'calls to reach the new primary again');
    expect(await old.command('GET', '{a}')).not.toBe('b');
  });

  test('Sentinels that were set up anew are followed after 30 s, although their epochs start again', async () => {
    const { old, other, sentinels, redis } = await createFixture();
    expect(await writeReaches(redis, old, 'a')).toBe(true);
    for (const sentinel of sentinels) sentinel.report = { port: other.port, epoch: 0 };
    await Bun.sleep(1_500);
    expect(await writeReaches(redis, old, 'b')).toBe(true);
    const { monotonicMs } = SYSTEM_RUNTIME;
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => monotonicMs() + 30_000 });
    ends.push(() => replaceRuntime(SYSTEM_RUNTIME));
    await until(() => writeReaches(redis, other, 'c'), 'calls to reach the new primary');
  });

  test('Sentinels that were set up anew are not followed for two replies 30 s apart with failures between', async () => {
    const fakes = [1, 2, 3].map(() => createFakeSentinel({ port: 7001, epoch: 4 }));
    ends.push(...fakes.map(({ stop }) => stop));
    let [nowMs, isReachable] = [0, true];
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
    ends.push(() => replaceRuntime(SYSTEM_RUNTIME));
    const sentinels = new Sentinels({
      addresses: fakes.map(({ port }) => ({ host: '127.0.0.1', port })),
      primaryName: 'fourbeat',
      connectTo: (address) => address,
      handshake: async () => {
        if (!isReachable) throw new Error('unreachable');
      },
    });
    const portAt = async (atMs: number) => {
      nowMs = atMs;
      return (await sentinels.primary()).port;
    };
    expect(await portAt(0)).toBe(7001);
    for (const fake of fakes) fake.report = { port: 7002, epoch: 0 };
    expect(await portAt(1_000)).toBe(7001);
    isReachable = false;
    await expect(portAt(2_000)).rejects.toThrow('no Sentinel responds');
    isReachable = true;
    expect(await portAt(31_000)).toBe(7001);
    expect(await portAt(61_000)).toBe(7002);
  });

  test('Sentinels report the primary in a list of names and values', () => {
    const reply = ['name', 'ip', 'ip', '10.0.0.1', 'port', '7001', 'config-epoch', '12'];
    expect(parsePrimaryView(reply.map((word) => Buffer.from(word)))).toEqual({
      address: { host: '10.0.0.1', port: 7001 },
      epoch: 12,
    });
  });
});
