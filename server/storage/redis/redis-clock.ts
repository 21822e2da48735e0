import type { Logger } from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import {
  type ClockReading,
  type ClockReadings,
  estimateAt,
  withReading,
} from './clock-estimate.ts';
import type { Redis } from './redis.ts';

export interface RedisClockOptions {
  readonly redis: Pick<Redis, 'timeMs'>;
  /**
   * Tells the other nodes the service time of this one, when it has one, and asks how far theirs is
   * ahead of the clock of Redis, in ms; 0 when it is not.
   */
  readonly askLeadMs: (serviceMs: number | null) => Promise<number>;
  readonly logger: Logger;
  /** A source that runs forward at the pace of real time; else the process's. */
  readonly monotonicMs?: () => number;
}

/** The clock of Redis, in this process. */
export interface RedisClock {
  /** What the clock of Redis says now, in Unix ms; may step. Runs on while Redis is unavailable. */
  systemMs(): number;
  /** How far the service time of the nodes is ahead of that, in ms; 0 when it is not. */
  leadMs(): number;
  /** From here on other nodes are told this service time. */
  tell(serviceMs: () => number): void;
  /** How far off `systemMs` may be, in ms: half the best round trip, and what two clocks drift. */
  errorMs(): number;
  close(): void;
}

const FIRST_READINGS = 5;
const EVERY_MS = 1_000;
const RETRY_MS = 200;
// A smaller one is slewing, and not worth a line.
const STEP_SAID_MS = 20;

/**
 * Opens the clock that all nodes share (SPEC N-8): readings of Redis' `TIME`, several at the start
 * and one a second from there on. Nothing of it depends on the system clock of this machine. Waits
 * until Redis answers.
 */
export async function openRedisClock(options: RedisClockOptions): Promise<RedisClock> {
  const { redis, askLeadMs, logger, monotonicMs = () => performance.now() } = options;

  const read = async (): Promise<ClockReading> => {
    const sentMs = monotonicMs();
    const serverMs = await redis.timeMs();
    return { sentMs, receivedMs: monotonicMs(), serverMs };
  };
  const take = (reading: ClockReading): void => {
    const taken = withReading(readings, reading);
    readings = taken.readings;
    ({ offsetMs } = estimateAt(readings, monotonicMs()));
    if (Math.abs(taken.steppedMs) < STEP_SAID_MS) return;
    const steppedMs = Math.round(taken.steppedMs);
    logger.warn({ steppedMs }, 'the clock of Redis stepped, or is another after a failover');
  };

  let readings: ClockReadings = [await untilAnswered(read)];
  let { offsetMs } = estimateAt(readings, monotonicMs());
  for (let more = 1; more < FIRST_READINGS; more += 1) take(await untilAnswered(read));
  let serviceMs: (() => number) | null = null;
  let leadMs = await untilAnswered(() => askLeadMs(null));
  const look = async (): Promise<void> => {
    take(await read());
    leadMs = await askLeadMs(serviceMs?.() ?? null);
  };
  const timer = setInterval(() => {
    look().catch((error: Error) => {
      // While Redis is unavailable the clock runs on by itself.
      if (!(error instanceof Unavailable)) logger.warn({ reason: error.message }, 'TIME of Redis');
    });
  }, EVERY_MS);

  return {
    systemMs: () => monotonicMs() + offsetMs,
    leadMs: () => leadMs,
    tell: (source) => {
      serviceMs = source;
    },
    errorMs: () => estimateAt(readings, monotonicMs()).errorMs,
    close: () => clearInterval(timer),
  };
}

async function untilAnswered<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await Bun.sleep(RETRY_MS);
    }
  }
}
