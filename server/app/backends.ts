import type { Logger } from 'pino';
import type { ChatPosts } from '../domains/chat/chat-source.ts';
import type { SlowMode } from '../domains/chat/slow-mode.ts';
import type { ServiceClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type {
  RealtimeBackend,
  RealtimeBackendOptions,
} from '../realtime/coordination/realtime-backend.ts';
import type { Database } from '../storage/sql/procedure.ts';
import type { procedures, Store } from './procedures.ts';

/** The backends of a service: database, clock and realtime backend. */
export interface Backends {
  readonly database: Database<typeof procedures>;
  /** The watermark in the database when it was opened. */
  readonly watermark: number;
  readonly clock: ServiceClock;
  readonly createRealtime: CreateRealtime;
  /** Servers that the service needs; `unavailable` returns the reason, or null while it is reachable. */
  readonly servers: readonly { readonly name: string; unavailableReason(): string | null }[];
  /** Location of the database for people, without credentials. */
  readonly location: string;
  /** Runs a step of the start, again while a server is unavailable (N-2). */
  retryUntilAvailable<T>(work: () => Promise<T>): Promise<T>;
  /** Commits the queued writes and closes the connections. */
  close(): Promise<void>;
  /** Releases the lock of this process, also when `close` did not finish. */
  release(): void;
}

/** The realtime backend, and the parts of the domains that share its memory or its Redis. */
export interface RealtimeParts {
  readonly realtime: RealtimeBackend;
  readonly chat: ChatPosts;
  readonly slowMode: SlowMode;
}

export interface RealtimeOptions extends RealtimeBackendOptions {
  readonly store: Store;
}

/** Creates the realtime parts of one process. @throws Unavailable */
export type CreateRealtime = (options: RealtimeOptions) => Promise<RealtimeParts>;

export interface BackendsOptions {
  readonly config: Config;
  readonly logger: Logger;
  /**
   * Called when writes are no longer possible, or a thread that answers viewers failed. The process should
   * end and be started again.
   */
  readonly onFailed: (reason: string) => void;
}

/** Opens the backends. @throws Error with a line for the operator */
export type OpenBackends = (options: BackendsOptions) => Promise<Backends>;
