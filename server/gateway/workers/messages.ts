import type { BanChanges, TokenSeat } from '../../auth/viewer-tokens/checked-viewers.ts';
import type { OpenFilesState } from '../../platform/open-files.ts';
import type { ResponseCounts } from '../../platform/response-counter.ts';
import type { SealedBody } from '../../realtime/feed/sealed-sql.ts';
import type { PageRead } from '../../realtime/feed/stored-intervals.ts';
import type { SeatMemory } from '../../realtime/presence/presence-ring.ts';
import type { GatewayOptions } from '../gateway.ts';
import type { RelayOptions } from '../relay/relay.ts';

// The messages between the main thread and the worker threads.

/** Where workers listen, and the origin server behind them. */
export type ListenTarget = Omit<RelayOptions, 'openFiles'> &
  Pick<GatewayOptions, 'host' | 'port' | 'corsOrigin' | 'edgeCache'>;

export interface WorkerStart extends ListenTarget {
  readonly kind: 'start';
  /** The `Allow` headers of operations; null: the operation goes to the origin server. */
  readonly allow: { readonly heartbeats: string | null; readonly feed: string | null };
  readonly tokenCacheSize: number;
  readonly trustProxy: boolean;
  /** The last sealed interval. */
  readonly sealed: number;
  /** The memory of a `ClockPublisher`. */
  readonly time: Float64Array;
  readonly unavailable: UnavailableReasons;
  readonly openFiles: OpenFilesState;
  /** The number of workers. */
  readonly threads: number;
}

/** Why heartbeats (`registrations`) and long polls (`feed`) get a 503 now; null: they do not. */
export interface UnavailableReasons {
  readonly registrations: string | null;
  readonly feed: string | null;
}

export type MessageToWorker =
  | WorkerStart
  /** Replies to `ping` with the main thread's `runtime.monotonicMs`. */
  | { readonly kind: 'pong'; readonly monotonicMs: number }
  /** The memory of a presence ring that is new or has grown. */
  | { readonly kind: 'ring'; readonly streamId: string; readonly memory: SeatMemory }
  | { readonly kind: 'ring-dropped'; readonly streamId: string }
  | { readonly kind: 'archived'; readonly streamId: string }
  /** A sealed interval, with the bodies by stream id that are not empty. */
  | {
      readonly kind: 'appended';
      readonly interval: number;
      readonly bodies: ReadonlyMap<string, Uint8Array>;
    }
  /** As `MemoryFeedLog.skipTo`. */
  | { readonly kind: 'skipped'; readonly interval: number }
  /** Ends all long polls with a 503. */
  | { readonly kind: 'long-polls-failed'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly unavailable: UnavailableReasons }
  /** Changes of the bans of a stream; `banned` follows. */
  | {
      readonly kind: 'bans';
      readonly id: number;
      readonly streamId: string;
      readonly changes: BanChanges;
    }
  | { readonly kind: 'call-result'; readonly id: number; readonly value: unknown }
  /** A call failed: with the message of an `Unavailable`, or with null for a defect. */
  | { readonly kind: 'call-error'; readonly id: number; readonly reason: string | null }
  /** Ends long polls and event streams, and takes no more; `drained` follows. */
  | { readonly kind: 'drain' }
  /** Stops listening; `closed` follows when all responses are complete. */
  | { readonly kind: 'close' };

/** The functions of the main thread that workers call by message. */
export interface MainThreadCalls {
  verify(token: string): Promise<TokenSeat | null>;
  readSealed(input: PageRead): Promise<SealedBody[]>;
}

/** The 503 responses of one operation since the last report, with the data of the first one. */
export interface RejectedRequests {
  count: number;
  readonly requestId: string;
  readonly reason: string;
}

/** The statistics of a worker, sent several times a second. */
export interface WorkerReport {
  readonly kind: 'report';
  readonly longPolls: number;
  readonly eventStreams: number;
  /** The streams whose feed was read. */
  readonly streamsRead: readonly string[];
  /** Responses since the last report. */
  readonly heartbeats: ResponseCounts;
  readonly intervals: ResponseCounts;
  readonly rejected: {
    readonly heartbeats: RejectedRequests | null;
    readonly intervals: RejectedRequests | null;
  };
}

export type MessageFromWorker =
  | { readonly kind: 'ping' }
  | { readonly kind: 'listening' }
  | { readonly kind: 'start-failed'; readonly reason: string }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly name: keyof MainThreadCalls;
      readonly input: unknown;
    }
  /** The bans of the message with this id are in effect. */
  | { readonly kind: 'banned'; readonly id: number }
  | { readonly kind: 'defect'; readonly reason: string }
  | { readonly kind: 'drained' }
  | { readonly kind: 'closed' }
  | WorkerReport;
