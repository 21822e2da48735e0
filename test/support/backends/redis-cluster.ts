import { type RedisServer, type RedisServerOptions, startRedis } from './redis.ts';
import { hasReplicasInSync, until } from './redis-replicated.ts';

/** A cluster of three primaries on 127.0.0.1, each with a third of the slots. */
export interface RedisCluster {
  /** `redis+cluster://…` with the primaries of the start. */
  readonly url: string;
  /** The primaries of the start, in the order of their slots. */
  readonly primaries: readonly RedisServer[];
  /** A replica of each primary, in the same order; empty unless `replicas` is set. */
  readonly replicas: readonly RedisServer[];
  /** The server that owns the slot of a key now, as reported by the cluster. */
  ownerOf(key: string): Promise<RedisServer>;
  /** Gives the slot of a key to another primary; the slot must be empty. */
  giveSlot(key: string, to: RedisServer): Promise<void>;
  /** The cluster's id of a server. */
  idOf(server: RedisServer): Promise<string>;
  /** Waits until all running members report a healthy cluster. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const PRIMARIES = 3;
/** A dead primary is replaced after two to three times this. */
const NODE_TIMEOUT_MS = 500;

/** Starts the cluster, optionally with a replica of each primary. */
export async function startCluster(
  options: RedisServerOptions & { readonly replicas?: boolean } = {},
): Promise<RedisCluster> {
  const settings = [
    ...(options.settings ?? []),
    ['cluster-enabled', 'yes'],
    ['cluster-node-timeout', String(NODE_TIMEOUT_MS)],
    ['repl-diskless-sync-delay', '0'],
  ];
  const start = () =>
    Promise.all(Array.from({ length: PRIMARIES }, () => startRedis({ ...options, settings })));
  const primaries = await start();
  const replicas = options.replicas ? await start() : [];
  const members = [...primaries, ...replicas];
  await assignSlots(primaries);
  await joinCluster(members);
  for (const [index, replica] of replicas.entries()) {
    const primary = primaries[index] as RedisServer;
    await replica.command('CLUSTER', 'REPLICATE', await idOf(primary));
  }
  for (const primary of replicas.length > 0 ? primaries : []) {
    await until(() => hasReplicasInSync(primary, 1), 'a replica to be in step');
  }

  const settled = async () => {
    for (const member of members) {
      await until(() => isHealthyOrDown(member), 'the cluster to be well');
    }
  };
  await settled();

  async function ownerOf(key: string): Promise<RedisServer> {
    const alive = await firstAlive(members);
    const slot = Number(await alive.command('CLUSTER', 'KEYSLOT', key));
    const ranges = (await alive.command('CLUSTER', 'SLOTS')) as [
      number,
      number,
      [string, number],
    ][];
    const range = ranges.find(([from, to]) => from <= slot && slot <= to);
    const owner = members.find(({ port }) => port === range?.[2][1]);
    if (!owner) throw new Error(`slot ${slot} has no owner`);
    return owner;
  }

  return {
    url: `redis+cluster://${primaries.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    primaries,
    replicas,
    idOf,
    ownerOf,
    async giveSlot(key, to) {
      const slot = Number(await to.command('CLUSTER', 'KEYSLOT', key));
      const id = await idOf(to);
      const from = await ownerOf(key);
      // A slot gets a new epoch, which the other members accept, only if it was being imported.
      await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
      await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', id);
      for (const server of [to, from, ...primaries]) {
        await server.command('CLUSTER', 'SETSLOT', slot, 'NODE', id);
      }
    },
    settled,
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
    },
  };
}

async function assignSlots(primaries: readonly RedisServer[]): Promise<void> {
  for (const [index, primary] of primaries.entries()) {
    const from = Math.ceil((SLOTS * index) / PRIMARIES);
    const to = Math.ceil((SLOTS * (index + 1)) / PRIMARIES) - 1;
    await primary.command('CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
}

/** Joins the members to one cluster, with distinct epochs. */
async function joinCluster(members: readonly RedisServer[]): Promise<void> {
  const [first, ...others] = members as [RedisServer, ...RedisServer[]];
  for (const [index, member] of members.entries()) {
    await member.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const other of others) await first.command('CLUSTER', 'MEET', '127.0.0.1', other.port);
  for (const member of members) {
    await until(
      async () =>
        lines(await member.command('CLUSTER', 'NODES')).every(isConnected(members.length)),
      'the members to know each other',
    );
  }
}

/** Whether a line of CLUSTER NODES is a connected member, and all `count` members are listed. */
function isConnected(count: number) {
  return (line: string, _: number, all: readonly string[]): boolean =>
    all.length === count && !line.includes('handshake') && line.includes(' connected');
}

async function idOf(server: RedisServer): Promise<string> {
  return String(await server.command('CLUSTER', 'MYID'));
}

async function isHealthyOrDown(member: RedisServer): Promise<boolean> {
  const info = await member.command('CLUSTER', 'INFO').catch(() => null);
  return info === null || String(info).includes('cluster_state:ok');
}

async function firstAlive(members: readonly RedisServer[]): Promise<RedisServer> {
  for (const member of members) {
    const reply = await member.command('PING').catch(() => null);
    if (reply === 'PONG') return member;
  }
  throw new Error('no member of the cluster is alive');
}

function lines(text: unknown): string[] {
  return String(text).split('\n').filter(Boolean);
}
