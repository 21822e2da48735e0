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

/** The default of a harness: every test of a complete service can run on both kinds. */
export const DEFAULT_BACKENDS: BackendsKind =
  process.env.FOURBEAT_TEST_BACKENDS === 'shared' ? 'shared' : 'embedded';

/** The backends of a harness. */
export interface HarnessBackends {
  readonly database: Database<typeof procedures>;
  readonly createRealtime: CreateRealtime;
  close(): Promise<void>;
}

/** @param directory identifies the database: another harness with the same directory shares it */
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
  /** URLs of the databases by the directory of their harness. */
  readonly databases: Map<string, Promise<string>>;
}

// One pair of servers for all open harnesses, since a start takes seconds. When all tests use shared
// backends, the servers run until the end of the process.
let servers: Promise<Servers> | null = null;
let userCount = DEFAULT_BACKENDS === 'shared' ? 1 : 0;

async function startServers(): Promise<Servers> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ fsync: false, maxConnections: 500 }),
    startRedis({ persistence: false }),
  ]);
  return { postgres, redis, databases: new Map() };
}

async function openShared(directory: string): Promise<HarnessBackends> {
  userCount++;
  servers ??= startServers();
  const { postgres, redis: redisServer, databases } = await servers;
  const url = databases.get(directory) ?? postgres.createDatabase(`harness_${databases.size}`);
  databases.set(directory, url);
  const logger = pino({ level: 'silent' });
  const redis = await openRedis({ url: redisServer.url, replicas: 0, logger });
  const database = await openPostgresDatabase({ procedures, url: await url, logger });
  return {
    database,
    createRealtime: createSharedRealtime(redis, randomUUID()),
    close: async () => {
      await database.close();
      await redis.close();
      if (--userCount > 0) return;
      servers = null;
      await Promise.all([postgres.stop(), redisServer.stop()]);
    },
  };
}
