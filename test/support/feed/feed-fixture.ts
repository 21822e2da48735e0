import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { CreateRealtime, RealtimeParts } from '../../../server/app/backends.ts';
import { createEmbeddedRealtime } from '../../../server/app/backends-embedded.ts';
import { createSharedRealtime } from '../../../server/app/backends-shared.ts';
import { procedures, type Store } from '../../../server/app/procedures.ts';
import type { ServiceClock } from '../../../server/platform/clock.ts';
import type { RealtimeBackend } from '../../../server/realtime/coordination/realtime-backend.ts';
import { createServiceClock } from '../../../server/realtime/coordination/service-clock.ts';
import { openSharedClock } from '../../../server/realtime/coordination/shared-clock.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { openShow, PRODUCER, STREAM, uuidOf } from '../streams/show-fixture.ts';

// Fixtures of the feed: one or more nodes in this process, in real time.

/** Delays of the sealings of one node in the database. */
export interface StoreBehavior {
  /** Sealings wait for this before they begin. */
  before: Promise<unknown> | null;
  /** Replies wait for this after the commit. */
  after: Promise<unknown> | null;
}

/** A node: its realtime backend and its database connection. */
export interface FeedNode {
  readonly realtime: RealtimeBackend;
  readonly chat: RealtimeParts['chat'];
  readonly clock: ServiceClock;
  readonly store: Store;
  readonly storeBehavior: StoreBehavior;
  /** Its connection to Redis, on a fixture of many nodes. */
  readonly redis: Redis | null;
  /** Stops gracefully. */
  stop(): Promise<void>;
  /** Crashes: everything in its memory is lost. */
  crash(): Promise<void>;
}

/** Nodes on one database. */
export interface FeedFixture {
  readonly nodes: readonly FeedNode[];
  /**
   * Starts a node; on a fixture for one node, after the one before was stopped.
   * @param monotonicMs its monotonic clock, on a fixture of many nodes
   */
  openNode(monotonicMs?: () => number): Promise<FeedNode>;
  /** Makes a stream of `PRODUCER`. */
  newStream(): Promise<string>;
  close(): Promise<void>;
}

const logger = pino({ level: 'silent' });

interface NodeBackends {
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly watermark: number;
  readonly createRealtime: CreateRealtime;
  readonly redis: Redis | null;
  end(): Promise<void>;
}

/** One node on SQLite and memory. */
export async function openEmbeddedFixture(): Promise<FeedFixture> {
  const show = await openShow([]);
  const fixture = await fixtureOf(async () => {
    const watermark = await show.store.readWatermark({});
    const clock = createServiceClock(Date.now, watermark, logger);
    return {
      store: show.store,
      clock,
      watermark,
      createRealtime: createEmbeddedRealtime,
      redis: null,
      end: async () => {},
    };
  });
  await fixture.openNode();
  return { ...fixture, close: () => fixture.close().then(() => show.close()) };
}

export interface SharedFixtureOptions {
  readonly redisUrl: string;
  /** URL of an empty database. */
  readonly databaseUrl: string;
  readonly nodes: number;
  /** Called with the seal latency of each interval on each node. */
  readonly onSealed?: (latencyMs: number) => void;
  /** Replaces the connection of a node to Redis. */
  readonly connect?: () => Promise<Redis>;
}

/** Several nodes, on Redis and PostgreSQL. */
export async function openSharedFixture(options: SharedFixtureOptions): Promise<FeedFixture> {
  const { redisUrl, databaseUrl, onSealed = () => {} } = options;
  const connect = options.connect ?? (() => openRedis({ url: redisUrl, replicas: 0, logger }));
  const fixture = await fixtureOf(async (monotonicMs) => {
    const redis = await connect();
    const database = await openPostgresDatabase({ procedures, url: databaseUrl, logger });
    const nodeId = randomUUID();
    const { store } = database;
    const sharedClock = await openSharedClock({ redis, store, nodeId, logger, monotonicMs });
    return {
      store,
      clock: sharedClock.clock,
      watermark: sharedClock.watermark,
      createRealtime: createSharedRealtime(redis, nodeId),
      redis,
      end: async () => {
        sharedClock.close();
        await redis.close();
        await database.close();
      },
    };
  }, onSealed);
  await fixture.openNode();
  const [first] = fixture.nodes;
  await first?.store.createAccount({
    user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: 0 },
    token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
    nowMs: 0,
  });
  for (let n = 1; n < options.nodes; n++) await fixture.openNode();
  return fixture;
}

async function fixtureOf(
  openBackends: (monotonicMs?: () => number) => Promise<NodeBackends>,
  onSealed: (latencyMs: number) => void = () => {},
): Promise<FeedFixture> {
  const nodes: FeedNode[] = [];
  let streams = 0;
  return {
    nodes,
    async openNode(monotonicMs) {
      const node = await openNode(await openBackends(monotonicMs), onSealed);
      nodes.push(node);
      return node;
    },
    async newStream() {
      const id = uuidOf(++streams);
      await nodes.at(-1)?.store.createStream({
        id,
        producer: PRODUCER,
        stream: STREAM,
        nowMs: Date.now(),
      });
      return id;
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.crash()));
    },
  };
}

async function openNode(
  { store: database, clock, watermark, createRealtime, redis, end }: NodeBackends,
  onSealed: (latencyMs: number) => void,
): Promise<FeedNode> {
  const storeBehavior: StoreBehavior = { before: null, after: null };
  const store: Store = {
    ...database,
    sealInterval: async (sealing) => {
      await storeBehavior.before;
      const outcome = await database.sealInterval(sealing);
      await storeBehavior.after;
      return outcome;
    },
  };
  const isArchived = () => false;
  const options = { store, clock, logger, watermark, isArchived, random: Math.random, onSealed };
  const { realtime, chat } = await createRealtime(options);
  realtime.start();
  let ended: Promise<void> | null = null;
  const endOnce = (work: () => Promise<void>) => (ended ??= work());
  return {
    realtime,
    chat,
    clock,
    store,
    storeBehavior,
    redis,
    stop: () =>
      endOnce(async () => {
        await realtime.drain();
        await realtime.stop();
        await end();
      }),
    crash: () =>
      endOnce(async () => {
        await redis?.close();
        await realtime.stop();
        await end();
      }),
  };
}
