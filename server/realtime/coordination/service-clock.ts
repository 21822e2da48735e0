import type { Logger } from 'pino';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { type ClockOptions, createClock, type ServiceClock } from '../../platform/clock.ts';

/** A larger lead of service time over the system clock is logged. */
const AHEAD_WARN_MS = 1_000;

/**
 * Creates the service clock over Unix ms. It starts after the last sealed interval (K-6).
 * @param watermark the newest sealed interval
 * @param following how to follow the system clock, and the service time of other nodes
 */
export function createServiceClock(
  systemMs: () => number,
  watermark: number,
  logger: Logger,
  following: Pick<
    Partial<ClockOptions>,
    'monotonicMs' | 'leadMs' | 'stepLeadMs' | 'stepAfterMs' | 'sleptMs'
  > = {},
): ServiceClock {
  const clock = createClock({
    ...following,
    systemMs,
    notBeforeMs: intervalStartMs(watermark + 1),
    onDoubt: (leadMs) =>
      logger.error(
        { leadMs },
        `the system clock is ${Math.round(leadMs / 1000)} s ahead of service time, which follows it in ` +
          'five minutes: correct the clock before, if it is wrong',
      ),
    onStep: (skippedMs) => logger.warn({ skippedMs }, 'service time stepped to the system clock'),
  });
  const aheadMs = clock.offsetMs();
  if (aheadMs > AHEAD_WARN_MS) {
    logger.warn(
      { aheadMs },
      `service time is ${Math.round(aheadMs / 1000)} s ahead of the system clock: intervals up to ` +
        'then are sealed and stay so; service time comes back by 1 % of the time that passes',
    );
  }
  return clock;
}
