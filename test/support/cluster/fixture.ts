import { startPostgres } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';
import {
  hasReplicasInSync,
  startReplicated,
  startSentinels,
  until,
  type WatchedRedis,
} from '../backends/redis-replicated.ts';
import { type Cluster, type ClusterOptions, type Stoppable, startCluster } from './cluster.ts';
import { makeNetwork, type Network } from './network.ts';
import { type FalseClock, makeFalseClock } from './skewed-clock.ts';

/** Where faults happen: nodes with their backends, and what a kind of fault needs besides. */
export interface Fixture {
  readonly cluster: Cluster;
  readonly apiToken: string;
  /** The one server of Redis; null: there are several. */
  readonly redis: RedisServer | null;
  /** Makes Redis forget all it knows. */
  forget(): Promise<void>;
  /** The network that the last node is in. */
  readonly network?: Network;
  /** The clock of each node. */
  readonly clocks?: readonly FalseClock[];
  /** Puts a replica in the place of the Redis that leads; resolves when it has a replica. */
  readonly promote?: () => Promise<void>;
  /** A rest before each promotion, in ms. */
  readonly restMs?: number;
  close(): Promise<void>;
}

export type FixtureKind = 'plain' | 'clocks' | 'replica' | 'behind' | 'sentinel' | 'network';

const NODES = 3;
/**
 * Sentinels begin nothing anew within twice their failover-timeout, which is 4 s in these tests, after
 * the begin of a failover; the last took a while itself.
 */
const SENTINELS_REST_MS = 4_500;
/**
 * A silent primary is dead for the Sentinels after so long, from when it is killed until all is well.
 * At other times one that gets no core for half a second is not replaced: nobody asked for that fault.
 */
const DEAD_AFTER_MS = 500;
const DEAD_AFTER_ELSE_MS = 30_000;
/** How much a replica lacks that falls behind: as much as was once seen under load. */
const BEHIND_MS = 700;
/** What the Sentinels call their primary. */
const NAME = 'fourbeat';

export function openFixture(kind: FixtureKind): Promise<Fixture> {
  return { plain, clocks, replica, behind, sentinel, network }[kind]();
}

async function plain(): Promise<Fixture> {
  const redis = await startRedis({ persistence: false });
  return onOneRedis(redis, { redis });
}

/** Each node sees a system clock of its own. */
async function clocks(): Promise<Fixture> {
  const redis = await startRedis({ persistence: false });
  const made = Array.from({ length: NODES }, makeFalseClock);
  const env = (node: number) => made[node]?.env ?? {};
  const fixture = await onOneRedis(redis, { redis, env });
  return {
    ...fixture,
    clocks: made,
    async close() {
      await fixture.close();
      for (const clock of made) clock.remove();
    },
  };
}

/** A leading Redis and its replica behind one address; what nodes hand over must be on both. */
async function replica(): Promise<Fixture> {
  const replicated = await startReplicated({ persistence: false });
  return onReplicas(
    replicated,
    () => replicated.primary,
    async () => {
      await replicated.promote();
      await until(() => hasReplicasInSync(replicated.primary, 1), 'the old primary to follow');
    },
  );
}

/** The same, but nobody waits for the replica, and it lacks the last moment when it takes over. */
async function behind(): Promise<Fixture> {
  const replicated = await startReplicated({ persistence: false });
  const promote = async () => {
    // It follows a server that is not there, and keeps what it has.
    await replicated.replicas[0]?.command('REPLICAOF', '127.0.0.1', '1');
    await Bun.sleep(BEHIND_MS);
    await replicated.promote();
    await until(() => hasReplicasInSync(replicated.primary, 1), 'the old primary to follow');
  };
  return onReplicas(replicated, () => replicated.primary, promote, 0);
}

/** Sentinels watch a leading Redis and its replica; what nodes hand over must be on both. */
async function sentinel(): Promise<Fixture> {
  const watched = await startSentinels({ persistence: false });
  await takeForDead(watched, DEAD_AFTER_ELSE_MS);
  const fixture = await onReplicas(
    watched,
    () => watched.primary(),
    async () => {
      const old = await watched.primary();
      await takeForDead(watched, DEAD_AFTER_MS);
      await old.kill9();
      const next = watched.servers.find((server) => server !== old) as RedisServer;
      await until(
        () => sentinelsKnow(watched, next, false),
        'all Sentinels to know the new primary',
      );
      await until(async () => String(await next.command('ROLE')).startsWith('master'), 'its role');
      await old.restart();
      // As its operator would set it; the Sentinels do it too, ten seconds later.
      await old.command('REPLICAOF', '127.0.0.1', next.port);
      await until(() => hasReplicasInSync(next, 1), 'the old primary to follow');
      await until(() => sentinelsKnow(watched, next, true), 'the Sentinels to see it follow');
      await takeForDead(watched, DEAD_AFTER_ELSE_MS);
    },
  );
  return { ...fixture, restMs: SENTINELS_REST_MS };
}

/** Tells the Sentinels how long a primary must be silent to be replaced, in ms. */
async function takeForDead({ sentinels }: WatchedRedis, silentMs: number): Promise<void> {
  const words = ['SENTINEL', 'SET', NAME, 'down-after-milliseconds', silentMs];
  await Promise.all(sentinels.map((one) => one.command(...words)));
}

/** Whether all Sentinels say that this is the primary; and, if asked, that its replica follows. */
async function sentinelsKnow(
  { sentinels }: WatchedRedis,
  primary: RedisServer,
  followed: boolean,
): Promise<boolean> {
  const views = sentinels.map(async (one) => {
    const [, port] = (await one.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as string[];
    const master = ((await one.command('SENTINEL', 'MASTER', NAME)) as string[]).join(' ');
    const replicas = String(await one.command('SENTINEL', 'REPLICAS', NAME));
    const calm = / flags master /.test(master) && /,flags,slave,/.test(replicas);
    return Number(port) === primary.port && (!followed || calm);
  });
  return (await Promise.all(views)).every((agrees) => agrees);
}

async function onReplicas(
  redis: Stoppable,
  primary: () => RedisServer | Promise<RedisServer>,
  promote: () => Promise<void>,
  replicas = 1,
): Promise<Fixture> {
  const args = () => ['--redis-replicas', String(replicas)];
  const cluster = await startCluster({ nodes: NODES, redis, args });
  return {
    ...{ cluster, promote, redis: null },
    apiToken: await tokenOf(cluster),
    async forget() {
      await (await primary()).command('FLUSHALL');
    },
    close: () => cluster.stop(),
  };
}

/** The last node is in a network of its own. */
async function network(): Promise<Fixture> {
  const made = await makeNetwork();
  try {
    const settings = [
      ['bind', '127.0.0.1', made.redis.ours],
      ['protected-mode', 'no'],
    ];
    const redis = await startRedis({ persistence: false, settings });
    const postgres = await startPostgres({ fsync: false, listen: made.rest.ours });
    const apart = {
      hostname: made.rest.theirs,
      redisUrl: `redis://${made.redis.ours}:${redis.port}`,
      within: made.within,
    };
    const place = (node: number) => (node === NODES - 1 ? apart : {});
    const fixture = await onOneRedis(redis, { redis, postgres, place });
    return {
      ...fixture,
      network: made,
      async close() {
        await fixture.close();
        made.remove();
      },
    };
  } catch (error) {
    made.remove();
    throw error;
  }
}

async function onOneRedis(redis: RedisServer, options: ClusterOptions): Promise<Fixture> {
  const cluster = await startCluster({ nodes: NODES, ...options });
  return {
    ...{ cluster, redis },
    apiToken: await tokenOf(cluster),
    forget: () => redis.restart(),
    close: () => cluster.stop(),
  };
}

async function tokenOf(cluster: Cluster): Promise<string> {
  return (await cluster.createAccount('producer@example.org')).token;
}
