import type { Logger } from 'pino';
import type { Store } from '../../app/procedures.ts';
import type { ChatSource } from '../../domains/chat/chat.ts';
import type { SlowMode } from '../../domains/chat/slow-mode.ts';
import type { ServiceClock } from '../../platform/clock.ts';
import type { FeedLog } from '../feed/feed-log.ts';
import type { FeedReaders } from '../feed/feed-log-memory.ts';
import type { PresenceRegistry, ShareablePresence } from '../presence/presence-registry.ts';
import type { RingSharer } from '../presence/presence-rings.ts';

/**
 * What may be lost with a process or a cache: who is present, the interval being filled, and the
 * way of sealed intervals to their readers. What must not be lost is the database's.
 */
export interface RealtimeBackend {
  readonly presence: PresenceRegistry & ShareablePresence;
  readonly chat: Pick<ChatSource, 'say' | 'hearts'>;
  readonly turns: SlowMode;
  readonly feed: FeedLog;
  /** Lets other threads of this process register and read, too; before anybody has. */
  share(threads: RealtimeThreads): void;
  /** Somebody read the feed of this stream in another thread. */
  noteRead(streamId: string): void;
  /** Takes part in sealing, on time, from here on. */
  begin(): void;
  /** Seals what has ended; for tests with a clock of their own. */
  seal(): Promise<void>;
  /** How far the feed of this node is behind, in ms: 0 when every ended interval can be read. */
  behindMs(): number;
  /** How many requests are held and how many event streams listen. */
  load(): { held: number; listeners: number };
  /** Why the realtime backend cannot be reached now, for everybody to read; null when all is well. */
  unavailable(): string | null;
  /** Answers what is held and takes no more to hold. */
  drain(): Promise<void>;
  /** Sees to it that what was accepted is sealed, then stops. After the drain. */
  stop(): Promise<void>;
}

/** Other threads of this process that register viewers and have readers. */
export interface RealtimeThreads extends RingSharer, FeedReaders {}

export interface RealtimeBackendOptions {
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly logger: Logger;
  /** The watermark of the database: everything up to here is sealed. */
  readonly watermark: number;
  /** Numbers in [0, 1) for samples. */
  readonly random: () => number;
  /** Told how long after the end of its interval a body could be served, in ms. */
  readonly onSealed: (latenessMs: number) => void;
}

/** Makes the realtime backend of one process. */
export type CreateRealtimeBackend = (
  options: RealtimeBackendOptions,
) => RealtimeBackend | Promise<RealtimeBackend>;
