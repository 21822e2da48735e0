import type { TokenSeat } from '../../auth/viewer-tokens/checked-viewer.ts';
import type { ResponseCounts } from '../../http/request-log.ts';
import type { SealedBody } from '../../realtime/feed/sealing-sql.ts';
import type { SeatMemory } from '../../realtime/presence/presence-cells.ts';

// What the main thread and those that answer viewers say to each other.

/** What a thread is told to begin with. */
export interface Begin {
  readonly kind: 'begin';
  readonly host: string | null;
  readonly port: number;
  /** Of the origin server; see `Relay`. */
  readonly path: string;
  readonly secret: string;
  readonly corsOrigin: string;
  readonly edgeCache: boolean;
  /** What the paths take that a front answers, `Allow`; null: they are not answered here. */
  readonly allow: { readonly heartbeats: string | null; readonly feed: string | null };
  readonly tokenCacheSize: number;
  /** The last interval that is sealed. */
  readonly sealed: number;
  /** See `TimeTold`. */
  readonly time: Float64Array;
  readonly unavailable: UnavailableReasons;
}

/** Why nobody can register now, and why no interval can be held; null: they can. */
export interface UnavailableReasons {
  readonly registrations: string | null;
  readonly feed: string | null;
}

export type ToThread =
  | Begin
  /** Answers `ping`: the main thread's `performance.now`. */
  | { readonly kind: 'pong'; readonly monotonicMs: number }
  | { readonly kind: 'ring'; readonly streamId: string; readonly memory: SeatMemory }
  | { readonly kind: 'ring-dropped'; readonly streamId: string }
  | {
      readonly kind: 'appended';
      readonly interval: number;
      readonly bodies: ReadonlyMap<string, Uint8Array>;
    }
  | { readonly kind: 'skipped'; readonly interval: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'away'; readonly unavailable: UnavailableReasons }
  /** All who are banned in a stream; `told` follows. */
  | {
      readonly kind: 'bans';
      readonly id: number;
      readonly streamId: string;
      readonly seats: ReadonlySet<number>;
    }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  /** What was called for cannot be had now, or, without a reason, for a defect. */
  | { readonly kind: 'refusal'; readonly id: number; readonly reason: string | null }
  /** Answer what is held, end event streams and take no more; `drained` follows. */
  | { readonly kind: 'drain' }
  /** Close the port; `closed` follows when all answers are written. */
  | { readonly kind: 'close' };

/** What a thread asks of the main thread. */
export interface ThreadCalls {
  check(token: string): Promise<TokenSeat | null>;
  readSealed(input: ReadInput): Promise<SealedBody[]>;
}

/** As the database's `readSealed` takes it. */
export interface ReadInput {
  readonly streamId: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly bytesMax?: number;
}

/** Those of one operation who were told 503, of whom one is named. */
export interface Refused {
  count: number;
  readonly requestId: string;
  readonly reason: string;
}

/** What a thread tells of itself, several times a second. */
export interface Report {
  readonly kind: 'report';
  readonly held: number;
  readonly listeners: number;
  /** Streams that were read there. */
  readonly read: readonly string[];
  /** Since the report before. */
  readonly heartbeats: ResponseCounts;
  readonly intervals: ResponseCounts;
  readonly refused: { readonly heartbeats: Refused | null; readonly intervals: Refused | null };
}

export type FromThread =
  | { readonly kind: 'ping' }
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly name: keyof ThreadCalls;
      readonly input: unknown;
    }
  | { readonly kind: 'told'; readonly id: number }
  | { readonly kind: 'defect'; readonly reason: string }
  | { readonly kind: 'drained' }
  | { readonly kind: 'closed' }
  | Report;
