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
import { openShow, PRODUCER, uuidOf } from '../streams/show-fixture.ts';

// What tests of the feed stand on: one or more nodes in this process, in real time.

/** How the database of one node treats sealings. */
export interface StoreBehavior {
  /** Sealings wait for this before they are begun. */
  before: Promise<unknown> | null;
  /** What was sealed is answered after this. */
  after: Promise<unknown> | null;
}

/** A node: a beat that takes part in sealing, and its way to the database. */
export interface FeedNode {
  readonly realtime: RealtimeBackend;
  readonly chat: RealtimeParts['chat'];
  readonly clock: ServiceClock;
  readonly store: Store;
  readonly manners: StoreBehavior;
  /** Its connection, on a fixture of many nodes. */
  readonly redis: Redis | null;
  /** Stops as a service does. */
  stop(): Promise<void>;
  /** Dies, with all that it has in memory. */
  drop(): Promise<void>;
}

/** Nodes on one record. */
export interface FeedFixture {
  readonly nodes: readonly FeedNode[];
  /**
   * Starts one more; on a fixture for one node, after the one before was stopped.
   * @param monotonicMs its source of real time, on a fixture of many nodes
   */
  openNode(monotonicMs?: () => number): Promise<FeedNode>;
  /** Makes a stream of `PRODUCER`. */
  newStream(): Promise<string>;
  close(): Promise<void>;
}

const logger = pino({ level: 'silent' });

interface Foundation {
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly watermark: number;
  readonly createRealtime: CreateRealtime;
  readonly redis: Redis | null;
  end(): Promise<void>;
}

/** One node on SQLite, its beat in memory. */
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
  /** Of an empty database. */
  readonly databaseUrl: string;
  readonly nodes: number;
  /** Told how late each interval was on each node, in ms. */
  readonly onSealed?: (latenessMs: number) => void;
  /** How a node connects to Redis, when not as the service does. */
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
    const time = await openSharedClock({ redis, store: store, nodeId, logger, monotonicMs });
    return {
      store: store,
      clock: time.clock,
      watermark: time.watermark,
      createRealtime: createSharedRealtime(redis, nodeId),
      redis,
      end: async () => {
        time.close();
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
  found: (monotonicMs?: () => number) => Promise<Foundation>,
  onSealed: (latenessMs: number) => void = () => {},
): Promise<FeedFixture> {
  const nodes: FeedNode[] = [];
  let streams = 0;
  return {
    nodes,
    async openNode(monotonicMs) {
      const node = await openNode(await found(monotonicMs), onSealed);
      nodes.push(node);
      return node;
    },
    async newStream() {
      const id = uuidOf(++streams);
      await nodes.at(-1)?.store.createStream({
        id,
        producer: PRODUCER,
        stream: {
          title: 'A show',
          dash_url: null,
          hls_url: null,
          unlisted: false,
          latencyAllowance: 0,
          recording: false,
        },
        nowMs: Date.now(),
      });
      return id;
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.drop()));
    },
  };
}

async function openNode(
  { store: database, clock, watermark, createRealtime, redis, end }: Foundation,
  onSealed: (latenessMs: number) => void,
): Promise<FeedNode> {
  const manners: StoreBehavior = { before: null, after: null };
  const store: Store = {
    ...database,
    sealInterval: async (sealing) => {
      await manners.before;
      const outcome = await database.sealInterval(sealing);
      await manners.after;
      return outcome;
    },
  };
  const options = { store: store, clock, logger, watermark, random: Math.random, onSealed };
  const { realtime, chat } = await createRealtime(options);
  realtime.start();
  let ended: Promise<void> | null = null;
  const endOnce = (work: () => Promise<void>) => (ended ??= work());
  return {
    realtime,
    chat,
    clock,
    store: store,
    manners,
    redis,
    stop: () =>
      endOnce(async () => {
        await realtime.drain();
        await realtime.stop();
        await end();
      }),
    drop: () =>
      endOnce(async () => {
        await redis?.close();
        await realtime.stop();
        await end();
      }),
  };
}
