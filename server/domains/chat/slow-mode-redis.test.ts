import { afterAll, beforeAll } from 'bun:test';
import pino from 'pino';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { slowModeContract } from '../../../test/support/chat/slow-mode-contract.ts';
import { openRedis } from '../../storage/redis/open-redis.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { createRedisSlowMode } from './slow-mode-redis.ts';

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
  redis = await openRedis({ url: server.url, replicas: 0, logger: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await redis.close();
  await server.stop();
});

slowModeContract('Redis', () =>
  createRedisSlowMode({ redis: { call: (call) => redis.call(call) }, serviceId: 'a service' }),
);
