import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { serviceClock } from '../../../server/app/backends.ts';
import { procedures, type TheRecord } from '../../../server/app/procedures.ts';
import type { ServiceClock } from '../../../server/platform/clock.ts';
import type { Beat, MakeBeat } from '../../../server/realtime/coordination/realtime-backend.ts';
import { createMemoryBeat } from '../../../server/realtime/coordination/realtime-backend-memory.ts';
import { redisBeat } from '../../../server/realtime/coordination/realtime-backend-redis.ts';
import { openSharedClock } from '../../../server/realtime/coordination/shared-clock.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import { openPostgresRecord } from '../../../server/storage/sql/database-postgres.ts';
import { openShow, PRODUCER, uuidOf } from '../streams/show-fixture.ts';

// What tests of the feed stand on: one or more nodes in this process, in real time.

/** How the record of one node treats sealings. */
export interface Manners {
  /** Sealings wait for this before they are begun. */
  before: Promise<unknown> | null;
  /** What was sealed is answered after this. */
  after: Promise<unknown> | null;
}

/** A node: a beat that takes part in sealing, and its way to the record. */
export interface FeedNode {
  readonly beat: Beat;
  readonly clock: ServiceClock;
  readonly record: TheRecord;
  readonly manners: Manners;
  /** Its connection, on a ground of many nodes. */
  readonly redis: Redis | null;
  /** Stops as a service does. */
  stop(): Promise<void>;
  /** Dies, with all that it has in memory. */
  drop(): Promise<void>;
}

/** Nodes on one record. */
export interface FeedGround {
  readonly nodes: readonly FeedNode[];
  /**
   * Starts one more; on a ground for one node, after the one before was stopped.
   * @param monotonicMs its source of real time, on a ground of many nodes
   */
  openNode(monotonicMs?: () => number): Promise<FeedNode>;
  /** Makes a stream of `PRODUCER`. */
  newStream(): Promise<string>;
  close(): Promise<void>;
}

const logger = pino({ level: 'silent' });

interface Foundation {
  readonly record: TheRecord;
  readonly clock: ServiceClock;
  readonly watermark: number;
  readonly makeBeat: MakeBeat;
  readonly redis: Redis | null;
  end(): Promise<void>;
}

/** One node on SQLite, its beat in memory. */
export async function openEmbeddedGround(): Promise<FeedGround> {
  const show = await openShow([]);
  const ground = await groundOf(async () => {
    const watermark = await show.record.readWatermark({});
    const clock = serviceClock(Date.now, watermark, logger);
    const makeBeat = createMemoryBeat;
    return { record: show.record, clock, watermark, makeBeat, redis: null, end: async () => {} };
  });
  await ground.openNode();
  return { ...ground, close: () => ground.close().then(() => show.close()) };
}

export interface SharedGroundOptions {
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
export async function openSharedGround(options: SharedGroundOptions): Promise<FeedGround> {
  const { redisUrl, databaseUrl, onSealed = () => {} } = options;
  const connect = options.connect ?? (() => openRedis({ url: redisUrl, replicas: 0, logger }));
  const ground = await groundOf(async (monotonicMs) => {
    const redis = await connect();
    const record = await openPostgresRecord({ procedures, url: databaseUrl, logger });
    const nodeId = randomUUID();
    const { calls } = record;
    const time = await openSharedClock({ redis, record: calls, nodeId, logger, monotonicMs });
    return {
      record: calls,
      clock: time.clock,
      watermark: time.watermark,
      makeBeat: redisBeat({ redis, nodeId }),
      redis,
      end: async () => {
        time.close();
        await redis.close();
        await record.close();
      },
    };
  }, onSealed);
  await ground.openNode();
  const [first] = ground.nodes;
  await first?.record.createAccount({
    user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: 0 },
    token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
    nowMs: 0,
  });
  for (let n = 1; n < options.nodes; n++) await ground.openNode();
  return ground;
}

async function groundOf(
  found: (monotonicMs?: () => number) => Promise<Foundation>,
  onSealed: (latenessMs: number) => void = () => {},
): Promise<FeedGround> {
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
      await nodes.at(-1)?.record.createStream({
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
  { record, clock, watermark, makeBeat, redis, end }: Foundation,
  onSealed: (latenessMs: number) => void,
): Promise<FeedNode> {
  const manners: Manners = { before: null, after: null };
  const calls: TheRecord = {
    ...record,
    sealInterval: async (sealing) => {
      await manners.before;
      const outcome = await record.sealInterval(sealing);
      await manners.after;
      return outcome;
    },
  };
  const options = { record: calls, clock, logger, watermark, random: Math.random, onSealed };
  const beat = await makeBeat(options);
  beat.begin();
  let ended: Promise<void> | null = null;
  const endOnce = (work: () => Promise<void>) => (ended ??= work());
  return {
    beat,
    clock,
    record: calls,
    manners,
    redis,
    stop: () =>
      endOnce(async () => {
        await beat.drain();
        await beat.stop();
        await end();
      }),
    drop: () =>
      endOnce(async () => {
        await redis?.close();
        await beat.stop();
        await end();
      }),
  };
}
