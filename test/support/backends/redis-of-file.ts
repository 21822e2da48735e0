import { afterAll } from 'bun:test';
import pino from 'pino';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import { PROCESS_ENVIRONMENT } from '../../../server/storage/redis/process-environment.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import { type RedisServer, startRedis } from './redis.ts';

/** Starts a Redis server for all tests of the calling file, and stops it after them. */
export async function redisOfFile(
  options?: Parameters<typeof startRedis>[0],
  environment = PROCESS_ENVIRONMENT,
): Promise<{ server: RedisServer; redis: Redis }> {
  const server = await startRedis(options);
  const logger = pino({ level: 'silent' });
  const redis = await openRedis({ url: server.url, replicas: 0, logger, environment });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });
  return { server, redis };
}
