import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import { PATIENT_ENVIRONMENT } from '../../../test/support/backends/patient-environment.ts';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { slowModeContract } from '../../../test/support/chat/slow-mode-contract.ts';
import { modelOfFile } from '../../../test/support/simulation/redis/model-of-file.ts';
import { openRedis } from '../../storage/redis/open-redis.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { createMemorySlowMode } from './slow-mode-memory.ts';
import { createRedisSlowMode } from './slow-mode-redis.ts';

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
  redis = await openRedis({
    ...{ url: server.url, replicas: 0, logger: pino({ level: 'silent' }) },
    environment: PATIENT_ENVIRONMENT,
  });
});
afterAll(async () => {
  await redis.close();
  await server.stop();
});

slowModeContract('memory', () => createMemorySlowMode());
slowModeContract('Redis', () =>
  createRedisSlowMode({ redis: { call: (call) => redis.call(call) }, serviceId: 'a service' }),
);
const model = await modelOfFile();
slowModeContract('the model of Redis', () =>
  createRedisSlowMode({ redis: model.redis, serviceId: 'a service' }),
);

test('[C-15] slow mode in memory evicts the viewer who posted longest ago first', () => {
  const slowMode = createMemorySlowMode(2);
  const take = (seat: number) =>
    slowMode.take({ streamId: 'a', seat, periodMs: 1_000, nowMs: 1_750_000_000_000 });
  expect([1, 2, 1, 2].map(take)).toEqual([0, 0, 1_000, 1_000]);
  expect([3, 1].map(take)).toEqual([0, 0]);
});
