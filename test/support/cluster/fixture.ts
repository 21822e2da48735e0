import { startPostgres } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';
import {
  hasReplicasInSync,
  startReplicated,
  startSentinels,
  until,
  type WatchedRedis,
} from '../backends/redis-replicated.ts';
import { type Cluster, type ClusterOptions, type RedisSetup, startCluster } from './cluster.ts';
import { createNetwork, type Network } from './network.ts';
import { createSkewedClock, type SkewedClock } from './skewed-clock.ts';

/**
 * Three nodes with PostgreSQL and Redis, and the parts that only some faults need. Opening throws
 * when a server does not start or its program is missing.
 */
export interface Fixture {
  readonly cluster: Cluster;
  readonly apiToken: string;
  /** The Redis server; null when there are several. */
  readonly redis: RedisServer | null;
  /** Deletes everything in Redis. */
  clearRedis(): Promise<void>;
  /** The network of the last node. */
  readonly network?: Network;
  /** The clock of each node. */
  readonly clocks?: readonly SkewedClock[];
  /** Promotes a replica of Redis; resolves when the new primary has a replica. */
  readonly promote?: () => Promise<void>;
  /** Pause before each promotion. */
  readonly pauseBeforePromotionMs?: number;
  close(): Promise<void>;
}

export type FixtureKind = 'plain' | 'clocks' | 'replica' | 'behind' | 'sentinel' | 'network';

const NODES = 3;
/**
 * Sentinels start no failover sooner than twice their failover-timeout after the start of the last
 * one. In these tests that is 4 s.
 */
const SENTINEL_PAUSE_MS = 4_500;
/** While a test replaces the primary: silence after which Sentinels consider it down. */
const DOWN_AFTER_MS = 500;
/** The same at other times, so that a primary that gets no core for 500 ms is not replaced. */
const DOWN_AFTER_IDLE_MS = 30_000;
/** Replication lag at the promotion, as large as was once measured under load. */
const REPLICA_LAG_MS = 700;
const SENTINEL_MASTER_NAME = 'fourbeat';

export function openFixture(kind: FixtureKind): Promise<Fixture> {
  return { plain, clocks, replica, behind, sentinel, network }[kind]();
}

async function plain(): Promise<Fixture> {
  const redis = await startRedis({ persistence: false });
  return withSingleRedis(redis, { redis });
}

/** Each node has a system clock of its own. */
async function clocks(): Promise<Fixture> {
  const redis = await startRedis({ persistence: false });
  const skewedClocks = Array.from({ length: NODES }, createSkewedClock);
  const envOf = (node: number) => skewedClocks[node]?.env ?? {};
  const fixture = await withSingleRedis(redis, { redis, envOf });
  return {
    ...fixture,
    clocks: skewedClocks,
    async close() {
      await fixture.close();
      for (const clock of skewedClocks) clock.remove();
    },
  };
}

/** A Redis primary with a replica behind one address; nodes wait until both have their writes. */
async function replica(): Promise<Fixture> {
  const replicated = await startReplicated({ persistence: false });
  return withReplicas(
    replicated,
    () => replicated.primary,
    async () => {
      await replicated.promote();
      await until(() => hasReplicasInSync(replicated.primary, 1), 'the old primary to follow');
    },
  );
}

/** Like `replica`, but no node waits for the replica, so that its promotion loses the last writes. */
async function behind(): Promise<Fixture> {
  const replicated = await startReplicated({ persistence: false });
  const promote = async () => {
    // A replica whose primary does not exist keeps its data and receives no more writes.
    await replicated.replicas[0]?.command('REPLICAOF', '127.0.0.1', '1');
    await Bun.sleep(REPLICA_LAG_MS);
    await replicated.promote();
    await until(() => hasReplicasInSync(replicated.primary, 1), 'the old primary to follow');
  };
  return withReplicas(replicated, () => replicated.primary, promote, 0);
}

/** Sentinels with a Redis primary and a replica; nodes wait until both have their writes. */
async function sentinel(): Promise<Fixture> {
  const watched = await startSentinels({ persistence: false });
  await setDownAfter(watched, DOWN_AFTER_IDLE_MS);
  const fixture = await withReplicas(
    watched,
    () => watched.primary(),
    async () => {
      const old = await watched.primary();
      await setDownAfter(watched, DOWN_AFTER_MS);
      await old.kill9();
      const next = watched.servers.find((server) => server !== old) as RedisServer;
      await until(
        () => sentinelsAgree(watched, next, false),
        'all Sentinels to report the new primary',
      );
      await until(async () => String(await next.command('ROLE')).startsWith('master'), 'its role');
      // Before the restart: on a busy machine the Sentinels would replace the new primary as well.
      await setDownAfter(watched, DOWN_AFTER_IDLE_MS);
      await old.restart();
      // The Sentinels do this too, ten seconds later.
      await old.command('REPLICAOF', '127.0.0.1', next.port);
      await until(() => hasReplicasInSync(next, 1), 'the old primary to follow');
      await until(() => sentinelsAgree(watched, next, true), 'the Sentinels to see it follow');
    },
  );
  return { ...fixture, pauseBeforePromotionMs: SENTINEL_PAUSE_MS };
}

/** Sets how long a primary must be silent until the Sentinels replace it. */
async function setDownAfter({ sentinels }: WatchedRedis, silentMs: number): Promise<void> {
  const command = ['SENTINEL', 'SET', SENTINEL_MASTER_NAME, 'down-after-milliseconds', silentMs];
  await Promise.all(sentinels.map((sentinel) => sentinel.command(...command)));
}

/** Whether all Sentinels report this primary and, on request, a replica that follows it. */
async function sentinelsAgree(
  { sentinels }: WatchedRedis,
  primary: RedisServer,
  needsReplica: boolean,
): Promise<boolean> {
  const views = sentinels.map(async (sentinel) => {
    const [, port] = (await sentinel.command(
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      SENTINEL_MASTER_NAME,
    )) as string[];
    const master = (
      (await sentinel.command('SENTINEL', 'MASTER', SENTINEL_MASTER_NAME)) as string[]
    ).join(' ');
    const replicas = String(await sentinel.command('SENTINEL', 'REPLICAS', SENTINEL_MASTER_NAME));
    const isHealthy = / flags master /.test(master) && /,flags,slave,/.test(replicas);
    return Number(port) === primary.port && (!needsReplica || isHealthy);
  });
  return (await Promise.all(views)).every((agrees) => agrees);
}

async function withReplicas(
  redis: RedisSetup,
  primary: () => RedisServer | Promise<RedisServer>,
  promote: () => Promise<void>,
  replicas = 1,
): Promise<Fixture> {
  const argsOf = () => ['--redis-replicas', String(replicas)];
  const cluster = await startCluster({ nodes: NODES, redis, argsOf });
  return {
    ...{ cluster, promote, redis: null },
    apiToken: await tokenOf(cluster),
    async clearRedis() {
      await (await primary()).command('FLUSHALL');
    },
    close: () => cluster.stop(),
  };
}

/** The last node is in a network namespace of its own. */
async function network(): Promise<Fixture> {
  const created = await createNetwork();
  try {
    const settings = [
      ['bind', '127.0.0.1', created.redis.hostAddress],
      ['protected-mode', 'no'],
    ];
    const redis = await startRedis({ persistence: false, settings });
    const postgres = await startPostgres({ fsync: false, listen: created.other.hostAddress });
    const lastNodeNetwork = {
      hostname: created.other.nodeAddress,
      redisUrl: `redis://${created.redis.hostAddress}:${redis.port}`,
      commandPrefix: created.commandPrefix,
    };
    const networkOf = (node: number) => (node === NODES - 1 ? lastNodeNetwork : {});
    const fixture = await withSingleRedis(redis, { redis, postgres, networkOf });
    return {
      ...fixture,
      network: created,
      async close() {
        await fixture.close();
        created.remove();
      },
    };
  } catch (error) {
    created.remove();
    throw error;
  }
}

async function withSingleRedis(redis: RedisServer, options: ClusterOptions): Promise<Fixture> {
  const cluster = await startCluster({ nodes: NODES, ...options });
  return {
    ...{ cluster, redis },
    apiToken: await tokenOf(cluster),
    clearRedis: () => redis.restart(),
    close: () => cluster.stop(),
  };
}

async function tokenOf(cluster: Cluster): Promise<string> {
  return (await cluster.createAccount('producer@example.org')).token;
}
