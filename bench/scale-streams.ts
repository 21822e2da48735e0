import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { INTERVAL_MS } from '../protocol/interval.ts';
import { newStreamSchema } from '../protocol/studio.ts';
import { createSharedRealtime } from '../server/app/backends-shared.ts';
import { procedures, type Store } from '../server/app/procedures.ts';
import type { RealtimeBackend } from '../server/realtime/coordination/realtime-backend.ts';
import { openSharedClock } from '../server/realtime/coordination/shared-clock.ts';
import { openRedis } from '../server/storage/redis/open-redis.ts';
import { openSqliteDatabase } from '../server/storage/sql/database-sqlite.ts';
import { type RedisServer, startRedis } from '../test/support/backends/redis.ts';
import { countTrips, type RedisWork, readWork, workBetween } from './redis-meter.ts';

/** Nodes with many streams, few of which have viewers. */
export interface StreamsCase {
  readonly nodes: number;
  readonly streams: number;
  /** Streams with ten viewers each; the others are idle. */
  readonly active: number;
  readonly seconds: number;
}

interface StreamsResult extends StreamsCase {
  readonly work: RedisWork;
  /** Sum of all nodes. */
  readonly roundTrips: number;
  /** Intervals sealed in that time. */
  readonly sealed: number;
}

const VIEWERS = 10;
const STREAMS_PER_ACCOUNT = 500;
const SETTLE_MS = 3_000;

/**
 * Measures real realtime backends with one Redis and one database: clocks, reports, sealing and logs.
 * Viewers register once a second, each time on the next node.
 */
export async function measureStreams(one: StreamsCase): Promise<StreamsResult> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-bench-'));
  const server = await startRedis({ persistence: false });
  const database = await openSqliteDatabase({
    procedures,
    worker: new URL('../server/app/database-worker.ts', import.meta.url),
    directory,
    onFailed: (reason) => console.error(reason),
  });
  try {
    const streamIds = await createStreams(database.store, one.streams);
    const trips = { total: 0 };
    const start = () => startNode(server, database.store, trips);
    const nodes = await Promise.all(Array.from({ length: one.nodes }, start));
    const backends = nodes.map(({ realtime }) => realtime);
    const viewers = new Viewers(backends, streamIds.slice(0, one.active));
    await Bun.sleep(SETTLE_MS);
    const before = {
      work: await readWork(server),
      trips: trips.total,
      sealed: watermarkOf(backends),
    };
    await Bun.sleep(one.seconds * 1_000);
    const work = workBetween(before.work, await readWork(server));
    const roundTrips = trips.total - before.trips;
    const sealed = watermarkOf(backends) - before.sealed;
    viewers.stop();
    for (const { end } of nodes) await end();
    return { ...one, work, roundTrips, sealed };
  } finally {
    await database.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function createStreams(store: Store, count: number): Promise<string[]> {
  const nowMs = Date.now();
  const stream = newStreamSchema.parse({ title: 'Show' });
  const streamIds: string[] = [];
  while (streamIds.length < count) {
    const user = {
      uuid: randomUUID(),
      email: `${randomUUID()}@example.org`,
      name: 'P',
      created: nowMs,
    };
    const token = { id: randomUUID(), name: 'bench', prefix: 'fb_', hash: randomUUID() };
    await store.createAccount({ user, token, nowMs });
    const ids = Array.from(
      { length: Math.min(STREAMS_PER_ACCOUNT, count - streamIds.length) },
      () => randomUUID(),
    );
    const input = { producer: user.uuid, nowMs, stream };
    await Promise.all(ids.map((id) => store.createStream({ id, ...input })));
    streamIds.push(...ids);
  }
  return streamIds;
}

interface Node {
  readonly realtime: RealtimeBackend;
  end(): Promise<void>;
}

async function startNode(
  server: RedisServer,
  store: Store,
  trips: { total: number },
): Promise<Node> {
  const logger = pino({ level: 'silent' });
  const opened = await openRedis({ url: server.url, replicas: 0, logger });
  const redis = countTrips(opened, trips);
  const nodeId = randomUUID();
  const time = await openSharedClock({ redis, store, nodeId, logger });
  const { realtime } = await createSharedRealtime(
    redis,
    nodeId,
  )({
    store,
    clock: time.clock,
    logger,
    watermark: time.watermark,
    isArchived: () => false,
    random: Math.random,
    onSealed: () => {},
  });
  realtime.start();
  return {
    realtime,
    async end() {
      await realtime.stop();
      time.close();
      await opened.close();
    },
  };
}

function watermarkOf(backends: readonly RealtimeBackend[]): number {
  return Math.max(...backends.map((realtime) => realtime.feed.watermark()));
}

/** Registers each viewer once a second, a quarter of them in each interval. */
class Viewers {
  private readonly timer: Timer;
  private intervals = 0;

  constructor(
    private readonly nodes: readonly RealtimeBackend[],
    private readonly streamIds: readonly string[],
  ) {
    this.timer = setInterval(() => this.register(), INTERVAL_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private register(): void {
    this.intervals += 1;
    for (const streamId of this.streamIds) {
      for (let seat = this.intervals % 4; seat < VIEWERS; seat += 4) {
        const node = this.nodes[(seat + Math.floor(this.intervals / 4)) % this.nodes.length];
        node?.presence.register(streamId, seat);
      }
    }
  }
}
