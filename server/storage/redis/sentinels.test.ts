import { afterEach, describe, expect, test } from 'bun:test';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { openTestRedis, setCall } from '../../../test/support/backends/redis-client.ts';
import { until } from '../../../test/support/backends/redis-replicated.ts';
import type { Redis } from './redis.ts';
import { primaryView } from './sentinels.ts';

/** What answers like a Sentinel, and says what the test wants. */
interface PretendSentinel {
  port: number;
  says: { port: number; epoch: number };
  stop(): void;
}

function pretendSentinel(says: PretendSentinel['says']): PretendSentinel {
  const bulk = (text: string | number) => `$${String(text).length}\r\n${text}\r\n`;
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        for (const [, name] of bytes.toString().matchAll(/\r\n(CLIENT|SENTINEL)\r\n/gi)) {
          const { port, epoch } = sentinel.says;
          const fields = ['ip', '127.0.0.1', 'port', port, 'config-epoch', epoch];
          const master = `*${fields.length}\r\n${fields.map(bulk).join('')}`;
          socket.write(name?.toUpperCase() === 'CLIENT' ? '+OK\r\n' : master);
        }
      },
    },
  });
  const sentinel = { port: listener.port, says, stop: () => listener.stop(true) };
  return sentinel;
}

describe('[N-15] Sentinels', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function world() {
    const [old, other] = (await Promise.all([startRedis(), startRedis()])) as [
      RedisServer,
      RedisServer,
    ];
    const sentinels = [1, 2, 3].map(() => pretendSentinel({ port: old.port, epoch: 4 }));
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const redis = await openTestRedis(`redis+sentinel://${hosts}/fourbeat`);
    ends.push(
      ...[old, other].map((server) => () => server.stop()),
      ...sentinels.map(({ stop }) => stop),
      () => redis.close(),
    );
    return { old, other, sentinels, redis };
  }

  const writes = async (redis: Redis, server: RedisServer, value: string) => {
    await redis.call(setCall('{a}', value));
    return (await server.command('GET', '{a}')) === value;
  };

  test('that made another server the primary are believed, though the old one still answers', async () => {
    const { old, other, sentinels, redis } = await world();
    expect(await writes(redis, old, 'first')).toBe(true);
    for (const sentinel of sentinels) sentinel.says = { port: other.port, epoch: 5 };
    await until(() => writes(redis, other, 'second'), 'calls to reach the new primary');
    expect(await writes(redis, other, 'third')).toBe(true);
    expect(await old.command('GET', '{a}')).not.toBe('third');
  });

  test('the newest of them is believed, and one that slept is not', async () => {
    const { old, other, sentinels, redis } = await world();
    const [first, second, third] = sentinels as [PretendSentinel, PretendSentinel, PretendSentinel];
    first.says = { port: other.port, epoch: 5 };
    second.says = { port: other.port, epoch: 5 };
    await until(() => writes(redis, other, 'a'), 'calls to reach the new primary');
    first.stop();
    second.stop();
    // Only the one that knows of the old primary is left.
    expect(third.says.port).toBe(old.port);
    await other.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await until(() => writes(redis, other, 'b'), 'calls to reach the new primary again');
    expect(await old.command('GET', '{a}')).not.toBe('b');
  });

  test('say it in a list of names and values', () => {
    const reply = ['name', 'ip', 'ip', '10.0.0.1', 'port', '7001', 'config-epoch', '12'];
    expect(primaryView(reply.map((word) => Buffer.from(word)))).toEqual({
      address: { host: '10.0.0.1', port: 7001 },
      epoch: 12,
    });
  });
});
