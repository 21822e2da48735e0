import { SLOW_MODE_MAX_MS } from '../../../protocol/limits.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import type { SlowMode } from './slow-mode.ts';

export interface RedisSlowModeOptions {
  readonly redis: Pick<Redis, 'call'>;
  /** The id of the database, because services may share a Redis. */
  readonly serviceId: string;
}

/** Slow mode for all nodes of one Redis, by its function in `redis/library/slow-mode.lua`. */
export function createRedisSlowMode({ redis, serviceId }: RedisSlowModeOptions): SlowMode {
  return {
    async take({ streamId, seat, periodMs, nowMs }) {
      const key = `fourbeat:{fourbeat:${serviceId}:${streamId}:${seat}}:turn`;
      // The key expires after the longest period, since the period may become longer meanwhile.
      const values = [nowMs, periodMs, SLOW_MODE_MAX_MS];
      return Number(await redis.call({ name: 'fourbeat_turn', keys: [key], values }));
    },
  };
}
