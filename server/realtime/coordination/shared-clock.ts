import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { tokenProcedures } from '../../auth/viewer-tokens/tokens-sql.ts';
import type { ServiceClock } from '../../platform/clock.ts';
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
  /** Of this process, never used by another. */
  readonly nodeId: string;
  readonly logger: Logger;
  /** A source that runs forward at the pace of real time; else the process's. */
  readonly monotonicMs?: (() => number) | undefined;
}

/** Service time of one node among several. */
export interface SharedClock {
  readonly clock: ServiceClock;
  /** The watermark of the database when the clock was made. */
  readonly watermark: number;
  close(): void;
}

/** A node that is behind by more steps forward. Whose interval ends this much later is still waited for in sealing: a lag of less does no harm. */
export const STEPS = { stepLeadMs: 100, stepAfterMs: 2_000 };
/**
 * The foremost node is followed at this distance, so that it is nobody's goal itself and comes back
 * to the clock of Redis: by more than it loses between two readings and than they can be off.
 */
const BEHIND_FOREMOST_MS = 20;

/**
 * Opens service time of one node among several (SPEC N-8): the clock of Redis, or the service time
 * of the other nodes while that is ahead. They need not agree with a clock that was stepped, but with
 * each other: who seals, what is counted and which answer is in time are decided in their time. A
 * node that is behind steps forward when that lasts for 2 s, and all come back to the clock of
 * Redis by 1 % of the time that passes.
 * @throws Unavailable when the database is unavailable; waits for Redis
 */
export async function openSharedClock(options: SharedClockOptions): Promise<SharedClock> {
  const { redis, store, nodeId, logger, monotonicMs = () => performance.now() } = options;
  // The time of other services on the same Redis is theirs.
  const serviceId = await store.keepSecret({ name: 'service', offered: randomUUID() });
  const keys = [`fourbeat:{fourbeat}:${serviceId}:clock`];
  const time = await openRedisClock({
    redis,
    logger,
    monotonicMs,
    exchangeLeadMs: async (serviceMs) => {
      const values = [nodeId, serviceMs ?? ''];
      const foremostMs = (await redis.call({ name: 'fourbeat_lead', keys, values })) as number;
      return Math.max(0, foremostMs - BEHIND_FOREMOST_MS);
    },
  });
  try {
    const watermark = await store.readWatermark({});
    const clock = createServiceClock(time.systemMs, watermark, logger, {
      monotonicMs,
      leadMs: time.leadMs,
      ...STEPS,
    });
    time.publish(clock.nowMs);
    return { clock, watermark, close: () => time.close() };
  } catch (error) {
    time.close();
    throw error;
  }
}
