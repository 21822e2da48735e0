import { afterAll, beforeAll } from 'bun:test';
import pino from 'pino';
import { type RedisServer, startRedis } from '../../test/backends/redis.ts';
import { openRedis } from '../redis/open-redis.ts';
import type { Redis } from '../redis/redis.ts';
import { lineTurnsContract } from './line-turns-contract.ts';
import { createRedisTurns } from './line-turns-redis.ts';

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

lineTurnsContract('Redis', () =>
  createRedisTurns({ redis: { call: (call) => redis.call(call) }, serviceId: 'a service' }),
);
