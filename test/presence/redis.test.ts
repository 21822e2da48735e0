import { afterAll, beforeAll } from 'bun:test';
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { intervalAt } from '../../protocol/interval.ts';
import type { Clock } from '../../server/platform/clock.ts';
import { createRedisPresence } from '../../server/realtime/presence/presence-registry-redis.ts';
import { openRedis } from '../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../server/storage/redis/redis.ts';
import { type RedisServer, startRedis } from '../support/backends/redis.ts';
import { presenceRegistryContract } from '../support/presence/presence-registry-contract.ts';
import { withThreadRegistration } from '../support/presence/register-from-thread.ts';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = await openRedis({ url: server.url, replicas: 0, logger: pino({ level: 'silent' }) });
});

afterAll(async () => {
  await redis.close();
  await server.stop();
});

// With one node, everything that it sent is replicated.
const oneNode = (clock: Clock) => {
  const watermark = () => intervalAt(clock.nowMs()) - 1;
  const presence = createRedisPresence({ redis, clock, serviceId: randomUUID(), watermark });
  return {
    ...presence,
    async countsAtEndOf(interval: number) {
      await presence.replicate(interval);
      return presence.countsAtEndOf(interval);
    },
  };
};

presenceRegistryContract('Redis, one node', oneNode);
presenceRegistryContract('Redis, one node, from another thread', (clock) =>
  withThreadRegistration(oneNode(clock), clock),
);
