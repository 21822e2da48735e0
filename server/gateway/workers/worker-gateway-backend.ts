import { randomUUID } from 'node:crypto';
import { intervalAt } from '../../../protocol/interval.ts';
import { viewerApi } from '../../../protocol/viewer-api.ts';
import { CheckedViewer } from '../../auth/viewer-tokens/checked-viewer.ts';
import { TokenCache } from '../../auth/viewer-tokens/seen-tokens.ts';
import type { KnownViewer } from '../../auth/viewer-tokens/viewer-tokens.ts';
import type { SeatOfStream } from '../../domains/moderation/chat-rooms.ts';
import { RequestIds } from '../../http/request-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { MemoryFeedLog } from '../../realtime/feed/feed-log-memory.ts';
import { OpenStreams } from '../../realtime/feed/open-streams.ts';
import type { SeatMemory } from '../../realtime/presence/presence-cells.ts';
import { SharedPresenceWriter } from '../../realtime/presence/shared-presence-writer.ts';
import type {
  FrontFeed,
  FrontHeartbeats,
  FrontTokens,
  GatewayBackend,
} from '../gateway-backend.ts';
import type { Begin, Report, ThreadCalls, UnavailableReasons } from './messages.ts';
import { ThreadOperation } from './worker-operation.ts';

/** A stream that is read is told of again after so long: it counts as read for 2 s. */
const TOLD_AGAIN_INTERVALS = 4;

// Thrown for every heartbeat that the main thread must see, so it is made once.
const NOT_HERE = new Error('The main thread registers this one.');

/** What a front needs, in a thread that has only what the main thread tells it. */
export class WorkerGatewayBackend implements GatewayBackend {
  readonly tokens: FrontTokens;
  readonly heartbeats: FrontHeartbeats | null;
  readonly feed: FrontFeed | null;
  /** The main thread's. */
  readonly quizzes = null;
  readonly log: MemoryFeedLog;
  /** As the main thread said last. */
  unavailable: UnavailableReasons;
  readonly streams: OpenStreams;
  private readonly seen: TokenCache;
  private readonly rings = new Map<string, SharedPresenceWriter>();
  private readonly banned = new Map<string, ReadonlySet<number>>();
  private readonly toldRead = new Map<string, number>();
  private readonly registered: ThreadOperation;
  private readonly read: ThreadOperation;

  constructor(
    told: Begin,
    private readonly time: Clock,
    private readonly calls: ThreadCalls,
  ) {
    this.unavailable = told.unavailable;
    const { allow } = told;
    // No other thread's.
    const ids = new RequestIds(randomUUID().slice(0, 8));
    this.registered = new ThreadOperation(viewerApi.registerView, allow.heartbeats ?? '', ids);
    this.read = new ThreadOperation(viewerApi.readInterval, allow.feed ?? '', ids);
    const nowMs = () => time.nowMs();
    this.seen = new TokenCache(told.tokenCacheSize, nowMs);
    this.streams = new OpenStreams(nowMs);
    this.log = new MemoryFeedLog(calls, told.sealed, () => this.unavailable.feed);
    this.tokens = {
      known: (token) => this.seen.get(token),
      find: (...token) => this.seen.find(...token),
      check: (token) => this.check(token),
      isBanned: (viewer) => this.isBanned(viewer),
    };
    this.heartbeats =
      allow.heartbeats === null
        ? null
        : {
            ...this.registered.ofFront,
            register: (...registration) => this.register(...registration),
          };
    this.feed =
      allow.feed === null ? null : { ...this.read.ofFront, log: this.log, streams: this.streams };
  }

  nowMs(): number {
    return this.time.nowMs();
  }

  /** The ring of a stream, which is new or has grown. */
  ringShared(streamId: string, memory: SeatMemory): void {
    this.rings.set(streamId, new SharedPresenceWriter(memory));
  }

  ringDropped(streamId: string): void {
    this.rings.delete(streamId);
  }

  /** Who is banned in a stream. Their event streams end. */
  ban(streamId: string, seats: ReadonlySet<number>): void {
    const before = this.banned.get(streamId);
    if (seats.size > 0) this.banned.set(streamId, seats);
    else this.banned.delete(streamId);
    this.streams.endOf(
      streamId,
      [...seats].filter((seat) => !before?.has(seat)),
    );
  }

  /** To be called several times a second. */
  tick(): void {
    this.log.expire(this.nowMs());
  }

  forgetExpired(): void {
    this.seen.forgetExpired();
  }

  /** What there is to tell since it was told before. */
  report(): Report {
    return {
      kind: 'report',
      ...this.log.load(),
      read: this.newlyRead(),
      heartbeats: this.registered.counter.take(),
      intervals: this.read.counter.take(),
      refused: {
        heartbeats: this.registered.takeRefused(),
        intervals: this.read.takeRefused(),
      },
    };
  }

  private register(streamId: string, seat: number, nowMs: number): void {
    const { registrations } = this.unavailable;
    if (registrations !== null) throw new Unavailable(registrations);
    if (!this.rings.get(streamId)?.register(seat, intervalAt(nowMs))) throw NOT_HERE;
  }

  private async check(token: string): Promise<KnownViewer | null> {
    const known = this.seen.getValid(token);
    if (known) return known;
    const seat = await this.calls.check(token);
    if (!seat) return null;
    this.seen.put(token, seat);
    return new CheckedViewer(seat, token);
  }

  private isBanned({ streamId, seat }: SeatOfStream): boolean {
    return this.banned.size > 0 && this.banned.get(streamId)?.has(seat) === true;
  }

  private newlyRead(): string[] {
    const interval = this.log.sealedTo();
    for (const [streamId, at] of this.toldRead) {
      if (at <= interval - TOLD_AGAIN_INTERVALS) this.toldRead.delete(streamId);
    }
    const read = [...this.log.watched(interval)].filter((id) => !this.toldRead.has(id));
    for (const streamId of read) this.toldRead.set(streamId, interval);
    return read;
  }
}
