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

/** What a service stands on: a record, a beat and a clock that go together. */
export interface Backends {
  readonly database: Database<typeof procedures>;
  /** The watermark of the database when it was opened. */
  readonly watermark: number;
  readonly clock: ServiceClock;
  readonly createRealtime: CreateRealtime;
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
   * Told when nothing can be recorded any more, or some viewers are answered by nobody: the process
   * should end and start again.
   */
  readonly onFailed: (reason: string) => void;
}

/** Opens the backends. @throws Error with a line for the operator */
export type OpenBackends = (options: BackendsOptions) => Promise<Backends>;
