import { randomUUID } from 'node:crypto';
import { intervalAt } from '../../protocol/interval.ts';
import type { Clock } from '../../server/platform/clock.ts';
import { createRedisPresence } from '../../server/realtime/presence/presence-registry-redis.ts';
import { redisOfFile } from '../support/backends/redis-of-file.ts';
import {
  presenceRegistryContract,
  withThreadRegistration,
} from '../support/presence/presence-registry-contract.ts';

const { redis } = await redisOfFile();

// With one node, the watermark is the newest ended interval: no other node replicates.
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
