import type { Logger } from 'pino';
import type { tokenProcedures } from '../../auth/viewer-tokens/tokens-sql.ts';
import type { ServiceClock } from '../../platform/clock.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { openRedisClock } from '../../storage/redis/redis-clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { sealedProcedures } from '../feed/sealed-sql.ts';
import { createServiceClock } from './service-clock.ts';

export interface SharedClockOptions {
  readonly redis: Pick<Redis, 'timeMs' | 'call'>;
  readonly store: Pick<
    Calls<typeof sealedProcedures & typeof tokenProcedures>,
    'readWatermark' | 'keepSecret'
  >;
  /** Id of this process; no other process ever uses it. */
  readonly nodeId: string;
  readonly logger: Logger;
  /** A monotonic clock; by default that of the process. */
  readonly monotonicMs?: (() => number) | undefined;
}

/** Service time of one node among several. */
export interface SharedClock {
  readonly clock: ServiceClock;
  /** The newest sealed interval when the clock was opened. */
  readonly watermark: number;
  close(): void;
}

/**
 * A node whose clock lags by more than 100 ms for 2 s steps forward. A smaller lag is harmless: nodes
 * still await its report of an interval.
 */
export const CLUSTER_STEPS = { stepLeadMs: 100, stepAfterMs: 2_000 };
/**
 * Nodes follow the largest service time minus this distance: without it the largest would follow
 * itself and never return to the clock of Redis. It exceeds drift and error between two readings.
 */
const FOLLOW_DISTANCE_MS = 20;

/**
 * Opens the service time of one node among several (SPEC N-8): the clock of Redis, or the service time
 * of the other nodes while that is ahead. Nodes must agree with each other rather than with a clock
 * that was stepped, because sealing, counts and answer deadlines depend on service time. A node that
 * lags steps forward after 2 s, and all nodes return to the clock of Redis by 1 % of the time that
 * passes. It runs from `openSharedClock` to `close`. It needs Redis, and waits for it.
 * @throws Unavailable when the database is unavailable
 */
export async function openSharedClock(options: SharedClockOptions): Promise<SharedClock> {
  const { redis, store, nodeId, logger, monotonicMs = () => runtime.monotonicMs() } = options;
  // Other services on the same Redis have a service time of their own.
  const serviceId = await store.keepSecret({ name: 'service', offered: runtime.newId() });
  const keys = [`fourbeat:{fourbeat}:${serviceId}:clock`];
  const redisClock = await openRedisClock({
    redis,
    logger,
    monotonicMs,
    exchangeLeadMs: async (serviceMs) => {
      const values = [nodeId, serviceMs ?? ''];
      const largestLeadMs = (await redis.call({ name: 'fourbeat_lead', keys, values })) as number;
      return Math.max(0, largestLeadMs - FOLLOW_DISTANCE_MS);
    },
  });
  try {
    const watermark = await store.readWatermark({});
    const clock = createServiceClock(redisClock.systemMs, watermark, logger, {
      monotonicMs,
      leadMs: redisClock.leadMs,
      ...CLUSTER_STEPS,
    });
    redisClock.publish(clock.nowMs);
    return { clock, watermark, close: () => redisClock.close() };
  } catch (error) {
    redisClock.close();
    throw error;
  }
}
