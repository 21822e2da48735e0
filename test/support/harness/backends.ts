import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { CreateRealtime } from '../../../server/app/backends.ts';
import { createEmbeddedRealtime } from '../../../server/app/backends-embedded.ts';
import { createSharedRealtime } from '../../../server/app/backends-shared.ts';
import { procedures } from '../../../server/app/procedures.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { openSqliteDatabase } from '../../../server/storage/sql/database-sqlite.ts';
import type { Database } from '../../../server/storage/sql/procedure.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';

/** `embedded`: SQLite and memory; `shared`: PostgreSQL and Redis. */
export type BackendsKind = 'embedded' | 'shared';

/** Those of a harness that names none: every whole-service test can be run on both. */
export const USUAL_BACKENDS: BackendsKind =
  process.env.FOURBEAT_TEST_BACKENDS === 'shared' ? 'shared' : 'embedded';

/** What a harness stands on. */
export interface HarnessBackends {
  readonly database: Database<typeof procedures>;
  readonly createRealtime: CreateRealtime;
  close(): Promise<void>;
}

/** @param directory names the database: another harness on it finds what was recorded */
export function openBackends(kind: BackendsKind, directory: string): Promise<HarnessBackends> {
  return kind === 'shared' ? openShared(directory) : openEmbedded(directory);
}

async function openEmbedded(directory: string): Promise<HarnessBackends> {
  const database = await openSqliteDatabase({
    procedures,
    worker: new URL('../../../server/app/database-worker.ts', import.meta.url),
    directory,
    onFailed: () => {},
  });
  return {
    database,
    createRealtime: createEmbeddedRealtime,
    close: () => database.close(),
  };
}

interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** Addresses of the databases, by the directory that a harness calls its own. */
  readonly databases: Map<string, Promise<string>>;
}

// One pair for all harnesses that are open at once, since a start takes seconds. When all of the
// tests use it, it is there to the end of their process, which it never outlives.
let servers: Promise<Servers> | null = null;
let users = USUAL_BACKENDS === 'shared' ? 1 : 0;

async function startServers(): Promise<Servers> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ fsync: false, maxConnections: 500 }),
    startRedis({ persistence: false }),
  ]);
  return { postgres, redis, databases: new Map() };
}

async function openShared(directory: string): Promise<HarnessBackends> {
  users++;
  servers ??= startServers();
  const { postgres, redis: redisServer, databases } = await servers;
  const name = databases.get(directory) ?? postgres.createDatabase(`harness_${databases.size}`);
  databases.set(directory, name);
  const logger = pino({ level: 'silent' });
  const redis = await openRedis({ url: redisServer.url, replicas: 0, logger });
  const database = await openPostgresDatabase({ procedures, url: await name, logger });
  return {
    database,
    createRealtime: createSharedRealtime(redis, randomUUID()),
    close: async () => {
      await database.close();
      await redis.close();
      if (--users > 0) return;
      servers = null;
      await Promise.all([postgres.stop(), redisServer.stop()]);
    },
  };
}
