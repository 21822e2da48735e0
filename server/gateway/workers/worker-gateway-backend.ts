import { LRUCache } from 'lru-cache';
import { intervalAt } from '../../../protocol/interval.ts';
import type { Operation } from '../../../protocol/operation.ts';
import { viewerApi } from '../../../protocol/viewer-api.ts';
import {
  type BanChanges,
  BannedSeats,
  CheckedViewer,
  TokenCache,
  type ViewerWithToken,
} from '../../auth/viewer-tokens/checked-viewers.ts';
import { RequestIds } from '../../http/request-log.ts';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { ResponseCounter } from '../../platform/response-counter.ts';
import { runtime } from '../../platform/runtime.ts';
import { MemoryFeedLog } from '../../realtime/feed/feed-log-memory.ts';
import { OpenStreams } from '../../realtime/feed/open-streams.ts';
import type { SeatMemory } from '../../realtime/presence/presence-ring.ts';
import { SharedPresenceWriter } from '../../realtime/presence/shared-presence-writer.ts';
import type {
  FeedOperation,
  GatewayBackend,
  GatewayOperation,
  HeartbeatOperation,
  TokenLookup,
} from '../gateway-backend.ts';
import type {
  MainThreadCalls,
  RejectedRequests,
  UnavailableReasons,
  WorkerReport,
  WorkerStart,
} from './messages.ts';

/** One second. A reported stream counts as read for 2 s, so one that is still read is reported again. */
const REPORT_AGAIN_INTERVALS = 4;
/** About 1 MB of ids. A heartbeat to an evicted stream is relayed, which adds the stream again. */
const ARCHIVED_MAX = 10_000;

// Makes the gateway relay a heartbeat to the main thread. Created once, because it is thrown often.
const NOT_REGISTERED = new Error('The main thread must register this seat');

/** The backend of a gateway on a worker thread. Its state comes from the main thread. */
export class WorkerGatewayBackend implements GatewayBackend {
  readonly tokens: TokenLookup;
  readonly bans = new BannedSeats();
  readonly heartbeats: HeartbeatOperation | null;
  readonly feed: FeedOperation | null;
  /** Null: quiz requests go to the origin server, since the main thread counts answers. */
  readonly quizzes = null;
  readonly log: MemoryFeedLog;
  /** The reasons that the main thread sent last. */
  unavailable: UnavailableReasons;
  readonly streams: OpenStreams;
  private readonly cache: TokenCache;
  private readonly rings = new Map<string, SharedPresenceWriter>();
  private readonly archived = new LRUCache<string, true>(atMostEntries(ARCHIVED_MAX));
  /** By stream id: the interval in which a read of the stream was last reported. */
  private readonly reportedReads = new Map<string, number>();
  private readonly heartbeatOperation: WorkerOperation;
  private readonly feedOperation: WorkerOperation;

  constructor(
    start: WorkerStart,
    readonly clock: Clock,
    private readonly calls: MainThreadCalls,
  ) {
    this.unavailable = start.unavailable;
    const { allow } = start;
    const ids = new RequestIds(runtime.newId().slice(0, 8));
    this.heartbeatOperation = new WorkerOperation(viewerApi.registerView, allow.heartbeats, ids);
    this.feedOperation = new WorkerOperation(viewerApi.readInterval, allow.feed, ids);
    const nowMs = () => clock.nowMs();
    this.cache = new TokenCache(start.tokenCacheSize, nowMs);
    this.streams = new OpenStreams(nowMs);
    this.log = new MemoryFeedLog(calls, start.sealed, () => this.unavailable.feed);
    this.tokens = { cache: this.cache, check: (token) => this.verify(token) };
    const presence = {
      register: (streamId: string, seat: number, nowMs = clock.nowMs()) =>
        this.register(streamId, seat, nowMs),
    };
    const { log, streams } = this;
    const heartbeats = this.heartbeatOperation.createGatewayOperation();
    this.heartbeats = heartbeats && { ...heartbeats, presence };
    const feed = this.feedOperation.createGatewayOperation();
    this.feed = feed && { ...feed, log, streams, trustProxy: start.trustProxy };
  }

  /** Sets the presence ring of a stream, which is new or has grown. */
  addRing(streamId: string, memory: SeatMemory): void {
    this.rings.set(streamId, new SharedPresenceWriter(memory));
  }

  removeRing(streamId: string): void {
    this.rings.delete(streamId);
  }

  /** Makes registrations in a stream succeed without effect (S-21). */
  setArchived(streamId: string): void {
    this.rings.delete(streamId);
    this.archived.set(streamId, true);
  }

  /** Changes the bans of a stream, and ends the event streams of banned viewers. */
  changeBans(streamId: string, changes: BanChanges): void {
    this.streams.endOf(streamId, this.bans.change(streamId, changes));
  }

  /** Ends overdue long polls. Call it several times a second. */
  tick(): void {
    this.log.failOverdue(this.clock.nowMs());
  }

  removeExpiredTokens(): void {
    this.cache.removeExpired();
  }

  /** Returns the statistics since the last call, and resets them. */
  report(): WorkerReport {
    const { heartbeatOperation, feedOperation } = this;
    return {
      kind: 'report',
      ...this.log.load(),
      streamsRead: this.takeStreamsToReport(),
      heartbeats: heartbeatOperation.counter.take(),
      intervals: feedOperation.counter.take(),
      rejected: {
        heartbeats: heartbeatOperation.takeRejected(),
        intervals: feedOperation.takeRejected(),
      },
    };
  }

  private register(streamId: string, seat: number, nowMs: number): void {
    const { registrations } = this.unavailable;
    if (registrations !== null) throw new Unavailable(registrations);
    const ring = this.rings.get(streamId);
    if (ring ? ring.register(seat, intervalAt(nowMs)) : this.archived.get(streamId)) return;
    throw NOT_REGISTERED;
  }

  private async verify(token: string): Promise<ViewerWithToken | null> {
    const cached = this.cache.getValid(token);
    if (cached) return cached;
    const seat = await this.calls.verify(token);
    if (!seat) return null;
    if (seat.expiresMs > this.clock.nowMs()) this.cache.put(token, seat);
    return new CheckedViewer(seat, token);
  }

  private takeStreamsToReport(): string[] {
    const interval = this.log.watermark();
    for (const [streamId, reportedAt] of this.reportedReads) {
      if (reportedAt <= interval - REPORT_AGAIN_INTERVALS) this.reportedReads.delete(streamId);
    }
    const read = [...this.log.activeStreams(interval)].filter((id) => !this.reportedReads.has(id));
    for (const streamId of read) this.reportedReads.set(streamId, interval);
    return read;
  }
}

/** An operation of a worker: counts its responses until the next report. */
class WorkerOperation {
  readonly counter: ResponseCounter;
  private rejected: RejectedRequests | null = null;

  /** @param allow the `Allow` header; null: the operation goes to the origin server */
  constructor(
    operation: Operation,
    private readonly allow: string | null,
    private readonly ids: RequestIds,
  ) {
    this.counter = new ResponseCounter(operation);
  }

  createGatewayOperation(): GatewayOperation | null {
    const { counter, allow, ids } = this;
    if (allow === null) return null;
    return {
      counter,
      allow,
      logUnavailable: (requestId, error) => this.reject(ids.resolve(requestId), error),
    };
  }

  /** The 503 responses since the last call; null without any. */
  takeRejected(): RejectedRequests | null {
    const { rejected } = this;
    this.rejected = null;
    return rejected;
  }

  private reject(requestId: string, { message }: Unavailable): string {
    if (this.rejected) this.rejected.count++;
    else this.rejected = { count: 1, requestId, reason: message };
    return requestId;
  }
}
