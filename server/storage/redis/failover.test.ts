import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import {
  openTestRedis,
  setCall,
  timed,
  waitUntilHealthy,
  waitUntilWritable,
} from '../../../test/support/backends/redis-client.ts';
import { type RedisCluster, startCluster } from '../../../test/support/backends/redis-cluster.ts';
import {
  startReplicated,
  startSentinels,
  until,
  type WatchedRedis,
} from '../../../test/support/backends/redis-replicated.ts';
import { Unavailable } from '../../platform/errors.ts';
import { RedisConfigurationError } from './reconnecting-connection.ts';
import type { Redis } from './redis.ts';

// Limits of N-9 and N-11: a call fails in this time, and works again this long after the server does.
const CALL_MAX_MS = 300;
const RECOVERY_MAX_MS = 2_000;
/** More than the Sentinels and clusters of the tests need to replace a primary. */
const FAILOVER_MS = 8_000;

const textOf = (value: unknown) => new TextDecoder().decode(value as Uint8Array);

/** Sends calls until one succeeds, and expects that every other one fails in time. */
async function expectFailover(redis: Redis, key: string): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const { end, ms } = await timed(redis.call(setCall(key)));
    if (!(end instanceof Error)) return;
    expect(end).toBeInstanceOf(Unavailable);
    expect(ms).toBeLessThan(CALL_MAX_MS);
    expect(performance.now() - startMs).toBeLessThan(FAILOVER_MS);
    await Bun.sleep(10);
  }
}

/** Writes until the replicas confirm a write: busy ones may miss the timeout of some. */
async function writeUntilConfirmed(redis: Redis, value: string): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    await redis.call(setCall('{a}', value));
    const { end } = await timed(redis.waitForReplicas('{a}'));
    if (!(end instanceof Error)) return;
    expect(end).toBeInstanceOf(Unavailable);
    expect(performance.now() - startMs).toBeLessThan(RECOVERY_MAX_MS);
  }
}

describe('[N-14] replicas', () => {
  test('replicas confirm a write when they have it; otherwise the wait for them fails within 300 ms', async () => {
    const group = await startReplicated({ replicas: 2 });
    const requiresTwo = await openTestRedis(group.url, { replicas: 2 });
    const requiresOne = await openTestRedis(group.url, { replicas: 1 });
    try {
      for (let round = 0; round < 20; round += 1) {
        await writeUntilConfirmed(requiresTwo, `turn ${round}`);
        for (const replica of group.replicas) {
          expect(await replica.command('GET', '{a}')).toBe(`turn ${round}`);
        }
      }
      group.replicas[0]?.pause();
      await writeUntilConfirmed(requiresOne, 'on one');
      await requiresTwo.call(setCall('{a}', 'on one'));
      const { end, ms } = await timed(requiresTwo.waitForReplicas('{a}'));
      expect(String(end)).toContain('1 of 2 replicas');
      expect(end).toBeInstanceOf(Unavailable);
      expect(ms).toBeLessThan(CALL_MAX_MS);
      group.replicas[0]?.resume();
      await writeUntilConfirmed(requiresTwo, 'on both again');
    } finally {
      await Promise.all([requiresOne.close(), requiresTwo.close()]);
      await group.stop();
    }
  });

  test('replicas do not confirm a write on the next connection after its own was lost', async () => {
    const group = await startReplicated({ replicas: 1 });
    const redis = await openTestRedis(group.url, { replicas: 1 });
    try {
      await redis.call(setCall('{a}', 'may be lost'));
      await group.primary.command('CLIENT', 'KILL', 'TYPE', 'normal');
      expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
      const { end } = await timed(redis.waitForReplicas('{a}'));
      expect(end).toBeInstanceOf(Unavailable);
    } finally {
      await redis.close();
      await group.stop();
    }
  });
});

describe('[N-14] a primary that became a replica', () => {
  test('a primary that became a replica confirms nothing, and its connection is dropped', async () => {
    const group = await startReplicated();
    const redis = await openTestRedis(group.url, { replicas: 1 });
    try {
      await writeUntilConfirmed(redis, 'before');
      await group.promote();
      const { end } = await timed(redis.waitForReplicas('{a}'));
      expect(end).toBeInstanceOf(Unavailable);
      expect(redis.unavailableReason()).toContain('WAIT');
      expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
      await writeUntilConfirmed(redis, 'after');
    } finally {
      await redis.close();
      await group.stop();
    }
  });
});

describe('[N-12] a promoted replica', () => {
  test('[N-11] a promoted replica at the same address is found when the old primary replies READONLY, and gets the library', async () => {
    const group = await startReplicated();
    const redis = await openTestRedis(group.url);
    try {
      await redis.call(setCall('{a}'));
      const promoted = group.replicas[0] as RedisServer;
      await group.promote();
      await promoted.command('FUNCTION', 'FLUSH');
      expect(await waitUntilWritable(redis, '{a}')).toBeLessThan(RECOVERY_MAX_MS);
      await redis.call(setCall('{a}', 'to the new one'));
      expect(await promoted.command('GET', '{a}')).toBe('to the new one');
    } finally {
      await redis.close();
      await group.stop();
    }
  });
});

describe('[N-15] Sentinels', () => {
  let watched: WatchedRedis;
  let redis: Redis;
  beforeAll(async () => {
    watched = await startSentinels();
    redis = await openTestRedis(watched.url);
  });
  afterAll(async () => {
    await redis.close();
    await watched.stop();
  });

  test('[N-11] Sentinels that the operator asks for a failover are followed to the new primary', async () => {
    const old = await watched.primary();
    await redis.call(setCall('{a}'));
    const [sentinel] = watched.sentinels as [RedisServer];
    const promoted = watched.servers.find((server) => server !== old) as RedisServer;
    await until(async () => {
      if ((await watched.primary()) === promoted) return true;
      await sentinel.command('SENTINEL', 'FAILOVER', 'fourbeat').catch(() => {});
      return false;
    }, 'the failover');
    await until(async () => {
      await redis.call(setCall('{a}', 'to the new one'));
      return (await promoted.command('GET', '{a}')) === 'to the new one';
    }, 'calls to reach the new primary');
    expect(await promoted.command('GET', '{a}')).toBe('to the new one');
  });

  test('[N-9] [N-11] Sentinels replace a stopped primary, and calls fail in time until then', async () => {
    const old = await watched.primary();
    await redis.call(setCall('{a}'));
    const reading = timed(redis.readLog('{log}', '0-0', 30_000));
    old.pause();
    await expectFailover(redis, '{a}');
    expect(await watched.primary()).not.toBe(old);
    expect((await reading).end).toBeInstanceOf(Unavailable);
    expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
    old.resume();
    await redis.call(setCall('{a}', 'after the old one woke'));
    const primary = await watched.primary();
    expect(await primary.command('GET', '{a}')).toBe('after the old one woke');
  });

  test('Sentinels delay a new connection only briefly when one of them does not respond', async () => {
    const [first, ...others] = watched.sentinels as [RedisServer, ...RedisServer[]];
    first.pause();
    try {
      const started = await timed(openTestRedis(watched.url));
      expect(started.end).not.toBeInstanceOf(Error);
      await (started.end as Redis).close();
      for (const other of others) other.pause();
      const refused = await timed(openTestRedis(watched.url));
      expect(refused.end).toBeInstanceOf(Unavailable);
      // Open connections work without any Sentinel.
      expect(textOf(await redis.call(setCall('{a}', 'still')))).toBe('still');
    } finally {
      for (const sentinel of watched.sentinels) sentinel.resume();
    }
  });

  test('[N-2] Sentinels that do not know the primary end the start', async () => {
    const { end } = await timed(openTestRedis(`${watched.url}-of-another`));
    expect(end).toBeInstanceOf(RedisConfigurationError);
    expect(String(end)).toContain('No such master');
  });
});

describe('[N-15] a cluster', () => {
  let cluster: RedisCluster;
  let redis: Redis;
  beforeAll(async () => {
    cluster = await startCluster({ replicas: true });
    redis = await openTestRedis(cluster.url);
  });
  afterAll(async () => {
    await redis.close();
    await cluster.stop();
  });

  const keys = Array.from({ length: 200 }, (_, index) => `{tag ${index}}:a`);
  const setAll = () => redis.callAll(keys.map((key) => setCall(key, key)));

  test('a cluster answers calls of many hash tags in order, from all its servers', async () => {
    expect((await setAll()).map(textOf)).toEqual(keys);
    for (const primary of cluster.primaries) {
      expect(await primary.command('DBSIZE')).toBeGreaterThan(20);
    }
    expect(Math.abs((await redis.timeMs()) - Date.now())).toBeLessThan(1_000);
  });

  test('a cluster is found through one of its servers', async () => {
    const first = cluster.primaries[0] as RedisServer;
    const found = await openTestRedis(`redis+cluster://127.0.0.1:1,127.0.0.1:${first.port}`);
    expect(textOf(await found.call(setCall('{b}', 'found')))).toBe('found');
    await found.close();
  });

  test('a cluster is followed while and after it moves a slot', async () => {
    const key = '{moved}:a';
    const from = await cluster.ownerOf(key);
    const to = cluster.primaries.find((primary) => primary !== from) as RedisServer;
    const slot = Number(await from.command('CLUSTER', 'KEYSLOT', key));
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await cluster.idOf(from));
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await cluster.idOf(to));
    expect(textOf(await redis.call(setCall(key, 'asked for')))).toBe('asked for');
    expect(await from.command('CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe(0);
    for (const server of [to, from, ...cluster.primaries]) {
      await server.command('CLUSTER', 'SETSLOT', slot, 'NODE', await cluster.idOf(to));
    }
    expect(textOf(await redis.call(setCall(key, 'moved')))).toBe('moved');
    expect(await to.command('GET', key)).toBe('moved');
    expect(redis.unavailableReason()).toBeNull();
  });

  test('[N-11] a slot that no server had is used within 2 s of its assignment', async () => {
    const key = '{gap}:a';
    const owner = await cluster.ownerOf(key);
    const slot = Number(await owner.command('CLUSTER', 'KEYSLOT', key));
    const coverage = (value: string) =>
      Promise.all(
        cluster.primaries.map((primary) =>
          primary.command('CONFIG', 'SET', 'cluster-require-full-coverage', value),
        ),
      );
    await coverage('no');
    for (const primary of cluster.primaries) await primary.command('CLUSTER', 'DELSLOTS', slot);
    const found = await openTestRedis(cluster.url);
    try {
      // Time for a view without the slot, after which nothing else is stale.
      await until(async () => {
        const { end } = await timed(found.call(setCall(key)));
        return end instanceof Error && end.message.includes('no server of the cluster');
      }, 'the slot to be without a server');
      await owner.command('CLUSTER', 'ADDSLOTS', slot);
      const startMs = performance.now();
      await until(async () => {
        const { end } = await timed(found.call(setCall(key)));
        return !(end instanceof Error);
      }, 'the slot to be used');
      expect(performance.now() - startMs).toBeLessThan(RECOVERY_MAX_MS);
    } finally {
      await found.close();
      await coverage('yes');
    }
  });

  test('[N-12] a cluster loads the library into a server that lacks it', async () => {
    for (const primary of cluster.primaries) await primary.command('FUNCTION', 'FLUSH');
    expect((await setAll()).map(textOf)).toEqual(keys);
  });

  test('[N-9] [N-11] [N-12] a cluster with a stopped primary fails calls for its keys in time until a replica takes over, and serves the other keys', async () => {
    const stopped = await cluster.ownerOf('{fourbeat}');
    stopped.pause();
    const other = await keyOfOtherServer(stopped);
    const { end } = await timed(redis.call(setCall('{fourbeat}')));
    expect(end).toBeInstanceOf(Unavailable);
    expect(redis.unavailableReason()).toContain('does not respond');
    await redis.call(setCall(other));
    await expectFailover(redis, '{fourbeat}');
    expect((await cluster.ownerOf('{fourbeat}')).port).not.toBe(stopped.port);
    stopped.resume();
    expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
    expect((await setAll()).map(textOf)).toEqual(keys);
  });

  test('[N-11] a cluster is down after a primary without a replica was killed, until it is available again', async () => {
    const unreplicated = await startCluster();
    const node = await openTestRedis(unreplicated.url);
    try {
      const dead = unreplicated.primaries[0] as RedisServer;
      await dead.kill9();
      for (const giveUpMs = performance.now() + FAILOVER_MS; ; ) {
        const ends = await Promise.all(
          keys.slice(0, 20).map((key) => timed(node.call(setCall(key)))),
        );
        for (const { end, ms } of ends) {
          if (end instanceof Error) expect(end).toBeInstanceOf(Unavailable);
          expect(ms).toBeLessThan(CALL_MAX_MS);
        }
        if (ends.some(({ end }) => String(end).includes('CLUSTERDOWN'))) break;
        expect(performance.now()).toBeLessThan(giveUpMs);
        await Bun.sleep(20);
      }
      expect(node.unavailableReason()).not.toBeNull();
      await dead.restart();
      await unreplicated.settled();
      const backMs = performance.now();
      await until(async () => {
        await node.callAll(keys.map((key) => setCall(key)));
        return true;
      }, 'all keys to be served');
      expect(await waitUntilHealthy(node)).toBeLessThan(RECOVERY_MAX_MS);
      expect(performance.now() - backMs).toBeLessThan(RECOVERY_MAX_MS);
    } finally {
      await node.close();
      await unreplicated.stop();
    }
  });

  test('[N-2] a cluster and a single server are not mistaken for each other', async () => {
    const first = cluster.primaries[1] as RedisServer;
    const singleServer = await openTestRedis(first.url).catch((error: Error) => error);
    expect(singleServer).toBeInstanceOf(RedisConfigurationError);
    expect(String(singleServer)).toContain('redis+cluster://');
    const single = await startRedis();
    const url = single.url.replace('redis:', 'redis+cluster:');
    const asCluster = await openTestRedis(url).catch((error: Error) => error);
    expect(asCluster).toBeInstanceOf(RedisConfigurationError);
    await single.stop();
  });

  async function keyOfOtherServer(server: RedisServer): Promise<string> {
    for (const key of keys) if ((await cluster.ownerOf(key)).port !== server.port) return key;
    throw new Error('one server has all keys');
  }
});
