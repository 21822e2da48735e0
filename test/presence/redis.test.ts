import { randomUUID } from 'node:crypto';
import { intervalAt } from '../../protocol/interval.ts';
import type { Clock } from '../../server/platform/clock.ts';
import { createRedisPresence } from '../../server/realtime/presence/presence-registry-redis.ts';
import type { Redis } from '../../server/storage/redis/redis.ts';
import { redisOfFile } from '../support/backends/redis-of-file.ts';
import {
  presenceRegistryContract,
  withThreadRegistration,
} from '../support/presence/presence-registry-contract.ts';
import { modelOfFile } from '../support/simulation/redis/model-of-file.ts';

// With one node, the watermark is the newest ended interval: no other node replicates.
const oneNodeOn = (redis: Redis) => (clock: Clock) => {
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

const oneNode = oneNodeOn((await redisOfFile()).redis);
presenceRegistryContract('Redis, one node', oneNode);
presenceRegistryContract('Redis, one node, from another thread', (clock) =>
  withThreadRegistration(oneNode(clock), clock),
);
presenceRegistryContract('the model of Redis, one node', oneNodeOn((await modelOfFile()).redis));
