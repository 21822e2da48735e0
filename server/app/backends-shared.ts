import { createSharedChatSource } from '../domains/chat/chat-source-shared.ts';
import { createRedisSlowMode } from '../domains/chat/slow-mode-redis.ts';
import { retryUntilAvailable } from '../platform/retry-until-available.ts';
import { runtime } from '../platform/runtime.ts';
import { createRedisRealtimeBackend } from '../realtime/coordination/realtime-backend-redis.ts';
import { openSharedClock } from '../realtime/coordination/shared-clock.ts';
import { openRedis } from '../storage/redis/open-redis.ts';
import type { Redis } from '../storage/redis/redis.ts';
import { openPostgresDatabase } from '../storage/sql/database-postgres.ts';
import type { Backends, BackendsOptions, CreateRealtime } from './backends.ts';
import { procedures } from './procedures.ts';

/**
 * Opens the backends of a node: the database in PostgreSQL, and the realtime backend in Redis. Retries while
 * one of them is unavailable (N-2).
 * @throws Error with a line for the operator when a retry cannot help
 */
export async function openShared({ config, logger }: BackendsOptions): Promise<Backends> {
  const { database: databaseUrl, redis: redisUrl, redisReplicas } = config;
  if (databaseUrl === null || redisUrl === null)
    throw new Error('--database and --redis are required');
  const retry = <T>(work: () => Promise<T>) =>
    retryUntilAvailable('PostgreSQL (--database)', logger, work);
  const redis = await retryUntilAvailable('Redis (--redis)', logger, () =>
    openRedis({ url: redisUrl, replicas: redisReplicas, logger }),
  ).catch((error: Error) => {
    throw new Error(`Redis (--redis) cannot be used: ${error.message}`);
  });
  const opened: { close(): void | Promise<void> }[] = [redis];
  const close = async () => {
    for (const resource of opened.toReversed()) await resource.close();
  };
  try {
    const nodeId = runtime.newId();
    const database = await retry(() =>
      openPostgresDatabase({ procedures, url: databaseUrl, logger }),
    );
    opened.push(database);
    const sharedClock = await retry(() =>
      openSharedClock({ redis, store: database.store, nodeId, logger }),
    );
    opened.push(sharedClock);
    return {
      database,
      watermark: sharedClock.watermark,
      clock: sharedClock.clock,
      createRealtime: createSharedRealtime(redis, nodeId),
      servers: [
        { name: 'redis', unavailableReason: () => redis.unavailableReason() },
        { name: 'postgres', unavailableReason: () => database.unavailableReason() },
      ],
      retryUntilAvailable: retry,
      location: `database in ${describeLocation(databaseUrl)}`,
      close,
      release: () => {},
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function describeLocation(database: string): string {
  const { host, pathname } = new URL(database);
  return `${host}${pathname}`;
}

/**
 * Returns the function that creates the realtime parts, which all nodes share through Redis.
 * @param nodeId of this process, never used by another
 */
export function createSharedRealtime(redis: Redis, nodeId: string): CreateRealtime {
  return async (options) => {
    // The service id separates the Redis keys of this database from those of other services, and of an earlier database.
    const offered = runtime.newId();
    const serviceId = await options.store.keepSecret({ name: 'service', offered });
    const chat = createSharedChatSource({
      random: options.random,
      unavailableReason: () =>
        redis.unavailableReason() === null ? null : 'Redis is unavailable.',
    });
    const realtime = createRedisRealtimeBackend({
      ...options,
      redis,
      nodeId,
      serviceId,
      source: chat,
    });
    return { realtime, chat, slowMode: createRedisSlowMode({ redis, serviceId }) };
  };
}
