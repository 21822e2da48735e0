import { randomUUID } from 'node:crypto';
import { untilReached } from '../platform/retry-until-available.ts';
import { redisRealtimeBackend } from '../realtime/coordination/realtime-backend-redis.ts';
import { openSharedClock } from '../realtime/coordination/shared-clock.ts';
import { openRedis } from '../storage/redis/open-redis.ts';
import { openPostgresDatabase } from '../storage/sql/database-postgres.ts';
import type { Backends, BackendsOptions } from './backends.ts';
import { procedures } from './procedures.ts';

/**
 * The backends of one node among several: the database in PostgreSQL, the realtime backend in Redis. While one
 * is unavailable it goes on trying (N-2).
 * @throws Error with a line for the operator about what does not heal by itself
 */
export async function openShared({ config, logger }: BackendsOptions): Promise<Backends> {
  const { database: databaseUrl, redis: redisUrl, redisReplicas } = config;
  if (databaseUrl === null || redisUrl === null)
    throw new Error('--database and --redis are needed');
  const reach = <T>(work: () => Promise<T>) =>
    untilReached('PostgreSQL (--database)', logger, work);
  const redis = await untilReached('Redis (--redis)', logger, () =>
    openRedis({ url: redisUrl, replicas: redisReplicas, logger }),
  ).catch((error: Error) => {
    throw new Error(`Redis (--redis) cannot be used: ${error.message}`);
  });
  const opened: { close(): void | Promise<void> }[] = [redis];
  const end = async () => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    const nodeId = randomUUID();
    const database = await reach(() =>
      openPostgresDatabase({ procedures, url: databaseUrl, logger }),
    );
    opened.push(database);
    const time = await reach(() =>
      openSharedClock({ redis, store: database.store, nodeId, logger }),
    );
    opened.push(time);
    return {
      database,
      watermark: time.watermark,
      clock: time.clock,
      createRealtimeBackend: redisRealtimeBackend({ redis, nodeId }),
      servers: [
        { name: 'redis', unavailable: () => redis.unavailable() },
        { name: 'postgres', unavailable: () => database.unavailable() },
      ],
      reach,
      place: `record in ${placeOf(databaseUrl)}`,
      end,
      release: () => {},
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function placeOf(database: string): string {
  const { host, pathname } = new URL(database);
  return `${host}${pathname}`;
}
