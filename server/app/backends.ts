import type { Logger } from 'pino';
import { intervalStartMs } from '../../protocol/interval.ts';
import { type ClockOptions, createClock, type ServiceClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { CreateRealtimeBackend } from '../realtime/coordination/realtime-backend.ts';
import type { Database } from '../storage/sql/procedure.ts';
import type { procedures } from './procedures.ts';

/** What a service stands on: a record, a beat and a clock that go together. */
export interface Backends {
  readonly database: Database<typeof procedures>;
  /** The watermark of the database when it was opened. */
  readonly watermark: number;
  readonly clock: ServiceClock;
  readonly createRealtimeBackend: CreateRealtimeBackend;
  /** Other servers that this needs, with why each cannot be reached now, or null. */
  readonly servers: readonly { readonly name: string; unavailable(): string | null }[];
  /** Where the database is, for people; without credentials. */
  readonly place: string;
  /** Does what a start needs of them: again while one is unavailable, where that may heal (N-2). */
  reach<T>(work: () => Promise<T>): Promise<T>;
  /** Commits what is queued and ends the connections. */
  end(): Promise<void>;
  /** Gives free what only one process can have, whether or not `end` came to its end. */
  release(): void;
}

export interface BackendsOptions {
  readonly config: Config;
  readonly logger: Logger;
  /**
   * Told when nothing can be recorded any more, or some viewers are answered by nobody: the process
   * should end and start again.
   */
  readonly onLost: (reason: string) => void;
}

/** Opens the backends. @throws Error with a line for the operator */
export type OpenBackends = (options: BackendsOptions) => Promise<Backends>;

// Service time that is further ahead than this is worth a line in the log.
const AHEAD_WARN_MS = 1_000;

/**
 * Service time over a source of Unix ms, past everything that is sealed (K-6).
 * @param others how it goes with the service time of other nodes
 */
export function serviceClock(
  systemMs: () => number,
  watermark: number,
  logger: Logger,
  others: Pick<Partial<ClockOptions>, 'monotonicMs' | 'leadMs' | 'stepLeadMs' | 'stepAfterMs'> = {},
): ServiceClock {
  const clock = createClock({
    monotonicMs: () => performance.now(),
    ...others,
    systemMs,
    notBeforeMs: intervalStartMs(watermark + 1),
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
