import type { Logger } from 'pino';
import type { ServiceClock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { FeedLog } from '../feed/feed-log.ts';
import type { FeedReplica } from '../feed/feed-log-memory.ts';
import type { sealedProcedures } from '../feed/sealed-sql.ts';
import type { SealingProcedures } from '../feed/sealing-sql.ts';
import type {
  PresenceRegistry,
  RingListener,
  ShareablePresence,
} from '../presence/presence-registry.ts';
import type { tailRepairProcedures } from './tail-repair-sql.ts';

/**
 * The transient state of the service: presence, the interval that is being filled, and the delivery of
 * sealed intervals to their readers. A process or a cache may lose it. Everything that must not be
 * lost is in the database.
 */
export interface RealtimeBackend {
  readonly presence: PresenceRegistry & ShareablePresence;
  readonly feed: FeedLog;
  /** Lets other threads of this process register viewers and serve the feed. Call it before `start`. */
  share(threads: RealtimeThreads): void;
  /** Records that the feed of a stream was read in another thread. */
  markActive(streamId: string): void;
  /** Starts to seal each interval when it ends. */
  start(): void;
  /** Seals all intervals that have ended; for tests with a manual clock. */
  seal(): Promise<void>;
  /** How far the feed of this node lags, in ms: 0 when every ended interval is served. */
  lagMs(): number;
  /** Numbers of long polls and of event streams on this node. */
  load(): { longPolls: number; eventStreams: number };
  /** Why the realtime backend is unavailable, in words for viewers; null while it is available. */
  unavailableReason(): string | null;
  /** Rejects new long polls. @returns when all open ones are answered */
  drain(): Promise<void>;
  /** Seals what was accepted, then stops. Call it after `drain`. */
  stop(): Promise<void>;
}

/** Other threads of this process that register viewers and serve the feed. */
export interface RealtimeThreads extends RingListener, FeedReplica {}

/** What the realtime backend needs of the database. */
export type RealtimeStore = Calls<
  typeof sealedProcedures & SealingProcedures & typeof tailRepairProcedures
>;

export interface RealtimeBackendOptions {
  readonly store: RealtimeStore;
  readonly clock: ServiceClock;
  readonly logger: Logger;
  /** The newest sealed interval in the database. */
  readonly watermark: number;
  /** Whether a stream counts no viewers any more (S-21). */
  readonly isArchived: (streamId: string) => boolean;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Called with the time from the end of an interval until it could be served, in ms. */
  readonly onSealed: (latencyMs: number) => void;
}
