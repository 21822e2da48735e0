import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type RedisServer, type RedisServerOptions, startRedis, startSentinel } from './redis.ts';

/** A primary with replicas, behind one address that follows a promotion. */
export interface ReplicatedRedis {
  /** URL of a forwarder to the current primary. */
  readonly url: string;
  /** The current primary. */
  readonly primary: RedisServer;
  readonly replicas: readonly RedisServer[];
  /**
   * Makes the first replica the primary, and the old primary its replica if it runs. New connections reach
   * the new primary; open connections stay with the old one.
   */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** A primary and a replica that three Sentinels watch. */
export interface WatchedRedis {
  /** `redis+sentinel://…/fourbeat` */
  readonly url: string;
  /** The two servers; either may be the primary. */
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** The primary, as reported by the Sentinels. */
  primary(): Promise<RedisServer>;
  stop(): Promise<void>;
}

/** About the time until a dead primary is replaced. */
const DOWN_AFTER_MS = 500;
const SETTLED_MAX_MS = 30_000;
const POLL_MS = 20;

/** Starts a primary with replicas, and waits until they are in sync. */
export async function startReplicated(
  options: RedisServerOptions & { readonly replicas?: number } = {},
): Promise<ReplicatedRedis> {
  const servers = await startInSync(options, options.replicas ?? 1);
  let [primary, ...replicas] = servers as [RedisServer, ...RedisServer[]];
  const forwarder = await forwardTo(() => primary.port);
  return {
    url: `redis://127.0.0.1:${forwarder.port}`,
    get primary() {
      return primary;
    },
    get replicas() {
      return replicas;
    },
    async promote() {
      const [promoted, ...others] = replicas;
      if (!promoted) throw new Error('there is no replica to promote');
      const old = primary;
      await promoted.command('REPLICAOF', 'NO', 'ONE');
      primary = promoted;
      const followers = await Promise.all(
        [...others, old].map(async (server) => {
          const done = server.command('REPLICAOF', '127.0.0.1', promoted.port);
          return done.then(
            () => server,
            () => null,
          );
        }),
      );
      replicas = followers.filter((server) => server !== null);
    },
    async stop() {
      forwarder.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Starts a primary, a replica and three Sentinels, and waits until the Sentinels know all others. */
export async function startSentinels(options: RedisServerOptions = {}): Promise<WatchedRedis> {
  const servers = await startInSync(options, 1);
  const settings = [
    `sentinel monitor fourbeat 127.0.0.1 ${servers[0]?.port} 2`,
    `sentinel down-after-milliseconds fourbeat ${DOWN_AFTER_MS}`,
    // Sentinels see the new primary by an INFO each second: with a timeout of 1 s, some failovers were
    // aborted and repeated for ten seconds.
    'sentinel failover-timeout fourbeat 4000',
  ];
  const start = () => startSentinel(settings, options.binary);
  const sentinels = await Promise.all([start(), start(), start()]);
  for (const sentinel of sentinels) {
    await until(async () => {
      const [master] = (await sentinel.command('SENTINEL', 'MASTERS')) as string[][];
      const field = (name: string) => Number(master?.[master.indexOf(name) + 1]);
      return field('num-other-sentinels') === 2 && field('num-slaves') === 1;
    }, 'the Sentinels to know each other');
  }
  const stop = async () => {
    await Promise.all([...sentinels, ...servers].map((server) => server.stop()));
  };
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/fourbeat`,
    servers,
    sentinels,
    async primary() {
      const words = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'fourbeat'];
      const address = (await sentinels[0]?.command(...words)) as [string, string];
      const found = servers.find(({ port }) => port === Number(address[1]));
      if (!found)
        throw new Error(`the Sentinels know a primary that is not of this test: ${address}`);
      return found;
    },
    stop,
  };
}

/** Polls until `condition` returns true. @throws Error when it does not in time */
export async function until(condition: () => Promise<boolean>, expectation: string): Promise<void> {
  const deadlineMs = performance.now() + SETTLED_MAX_MS;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > deadlineMs) throw new Error(`timed out waiting for ${expectation}`);
    await Bun.sleep(POLL_MS);
  }
}

/** Whether the primary has this number of replicas in sync. */
export async function hasReplicasInSync(primary: RedisServer, replicas: number): Promise<boolean> {
  const info = String(await primary.command('INFO', 'replication'));
  return info.split('state=online').length - 1 === replicas;
}

async function startInSync(options: RedisServerOptions, replicas: number): Promise<RedisServer[]> {
  const settings = [
    ...(options.settings ?? []),
    // The default waits five seconds for further replicas before the first sync.
    ['repl-diskless-sync-delay', '0'],
  ];
  const primary = await startRedis({ ...options, settings });
  const replicaSettings = [...settings, ['replicaof', '127.0.0.1', String(primary.port)]];
  const followers = await Promise.all(
    Array.from({ length: replicas }, () => startRedis({ ...options, settings: replicaSettings })),
  );
  await until(() => hasReplicasInSync(primary, replicas), 'the replicas to be in step');
  return [primary, ...followers];
}

/** Forwards each new connection to the current target port. */
async function forwardTo(targetPort: () => number): Promise<{ port: number; stop(): void }> {
  const inwards = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(targetPort(), '127.0.0.1');
    inwards.add(inward);
    pipeline(inward, outward, inward, () => inwards.delete(inward));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.close();
      for (const inward of inwards) inward.destroy();
    },
  };
}
