import { SLOW_MODE_MAX_MS } from '../../../protocol/limits.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import type { SlowMode } from './slow-mode.ts';

export interface RedisTurnsOptions {
  readonly redis: Pick<Redis, 'call'>;
  /** Of the database: streams of another may share the Redis. */
  readonly serviceId: string;
}

/** Turns of viewers on all nodes of one Redis; its function is in `redis/library/turns.lua`. */
export function createRedisSlowMode({ redis, serviceId }: RedisTurnsOptions): SlowMode {
  return {
    async take({ streamId, seat, everyMs, nowMs }) {
      const key = `fourbeat:{fourbeat:${serviceId}:${streamId}:${seat}}:turn`;
      // However slow the chat is made by then, it is known when they wrote.
      const values = [nowMs, everyMs, SLOW_MODE_MAX_MS];
      return Number(await redis.call({ name: 'fourbeat_turn', keys: [key], values }));
    },
  };
}
