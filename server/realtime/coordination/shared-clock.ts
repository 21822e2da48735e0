import type { Logger } from 'pino';
import type { tokenProcedures } from '../../auth/viewer-tokens/tokens-sql.ts';
import { createSleepMeter, type ServiceClock } from '../../platform/clock.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { openRedisClock } from '../../storage/redis/redis-clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { sealedProcedures } from '../feed/sealed-sql.ts';
import { ClockDoubt } from './clock-doubt.ts';
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
/** A larger difference between the system clock and that of Redis is logged at the start. */
const DIFFERENCE_WARN_MS = 60_000;

/**
 * Opens the service time of one node among several (SPEC N-8): the clock of Redis, or the service time
 * of the other nodes while that is ahead, or while the clock of Redis is doubted (`ClockDoubt`). Nodes must agree with each other rather than with a clock
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
  const doubt = new ClockDoubt({
    monotonicMs,
    sleptMs: createSleepMeter(),
    onDoubt: (aheadMs) =>
      logger.error(
        { aheadMs },
        `the clock of Redis is ${Math.round(aheadMs / 1000)} s ahead of all nodes, which follow it in ` +
          'five minutes: correct the clock before, if it is wrong',
      ),
  });
  const redisClock = await openRedisClock({
    redis,
    logger,
    monotonicMs,
    exchangeLeadMs: async (serviceMs) => {
      const values = [nodeId, serviceMs ?? ''];
      const foremostMs = await redis.call({ name: 'fourbeat_lead', keys, values });
      return doubt.followedLeadMs(foremostMs as number | null);
    },
  });
  const differenceMs = redisClock.systemMs() - runtime.systemMs();
  if (Math.abs(differenceMs) > DIFFERENCE_WARN_MS) {
    logger.warn(
      { differenceMs: Math.round(differenceMs) },
      'the clock of Redis differs from that of this machine by over a minute: one of them is wrong',
    );
  }
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
