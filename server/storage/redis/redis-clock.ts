import type { Logger } from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import { addReading, type ClockReading, type ClockReadings, estimateAt } from './clock-estimate.ts';
import type { Redis } from './redis.ts';

export interface RedisClockOptions {
  readonly redis: Pick<Redis, 'timeMs'>;
  /**
   * Publishes the service time of this node, if it has one, and returns the lead over the clock of
   * Redis that this node follows, in ms; 0: it follows that clock.
   */
  readonly exchangeLeadMs: (serviceMs: number | null) => Promise<number>;
  readonly logger: Logger;
  /** A source that runs forward at the pace of real time; by default `runtime.monotonicMs`. */
  readonly monotonicMs?: () => number;
}

/** The clock of Redis, as estimated in this process. */
export interface RedisClock {
  /** The clock of Redis in Unix ms; it may step. It continues while Redis is unavailable. */
  systemMs(): number;
  /** Lead over the clock of Redis that this node follows, in ms; 0: it follows that clock. */
  leadMs(): number;
  /** Sets the service time that is published to the other nodes from now on. */
  publish(serviceMs: () => number): void;
  /** Maximum error of `systemMs`, in ms: half the best round trip, plus the drift since. */
  errorMs(): number;
  close(): void;
}

const FIRST_READINGS = 5;
const READ_INTERVAL_MS = 1_000;
const RETRY_MS = 200;
/** Smaller steps are slewing and are not logged. */
const STEP_LOG_MIN_MS = 20;

/**
 * Opens the clock that all nodes share (SPEC N-8). It reads `TIME` of Redis several times at the start,
 * and then once a second. It does not depend on the system clock of this machine. Waits until Redis
 * responds.
 */
export async function openRedisClock(options: RedisClockOptions): Promise<RedisClock> {
  const { redis, exchangeLeadMs, logger, monotonicMs = () => runtime.monotonicMs() } = options;

  const read = async (): Promise<ClockReading> => {
    const sentMs = monotonicMs();
    const serverMs = await redis.timeMs();
    return { sentMs, receivedMs: monotonicMs(), serverMs };
  };
  const add = (reading: ClockReading): void => {
    const added = addReading(readings, reading);
    readings = added.readings;
    ({ offsetMs } = estimateAt(readings, monotonicMs()));
    if (Math.abs(added.steppedMs) < STEP_LOG_MIN_MS) return;
    const steppedMs = Math.round(added.steppedMs);
    logger.warn({ steppedMs }, 'the clock of Redis stepped, or a failover changed the server');
  };

  let readings: ClockReadings = [await retryUntilAnswered(read)];
  let { offsetMs } = estimateAt(readings, monotonicMs());
  for (let count = 1; count < FIRST_READINGS; count += 1) add(await retryUntilAnswered(read));
  let serviceMs: (() => number) | null = null;
  let leadMs = await retryUntilAnswered(() => exchangeLeadMs(null));
  const refresh = async (): Promise<void> => {
    const reading = await read();
    const followedMs = await exchangeLeadMs(serviceMs?.() ?? null);
    // Both or neither: a step of the clock is seen together with whether it is doubted.
    add(reading);
    leadMs = followedMs;
  };
  const timer = runtime.setInterval(() => {
    refresh().catch((error: Error) => {
      // The clock continues while Redis is unavailable.
      if (!(error instanceof Unavailable))
        logger.warn({ reason: error.message }, 'the clock of Redis could not be read');
    });
  }, READ_INTERVAL_MS);

  return {
    systemMs: () => monotonicMs() + offsetMs,
    leadMs: () => leadMs,
    publish: (source) => {
      serviceMs = source;
    },
    errorMs: () => estimateAt(readings, monotonicMs()).errorMs,
    close: () => runtime.clearTimer(timer),
  };
}

async function retryUntilAnswered<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await runtime.sleep(RETRY_MS);
    }
  }
}
