import { intervalStartMs } from '../../../protocol/interval.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type {
  FeedLog,
  FeedRange,
  IntervalListener,
  IntervalWaiter,
  ReadClient,
  SealedInterval,
} from './feed-log.ts';
import { emptyBody } from './interval-body.ts';
import type { SealedBody } from './sealed-sql.ts';
import { type FeedStore, RANGE_BYTES, StoredIntervals } from './stored-intervals.ts';

/** Intervals in memory: a minute, so that reads of live viewers never go to the database. */
export const RECENT_INTERVALS = 240;
/** Ranges include empty intervals of the last 10 minutes, and leave out older empty ones. */
const EMPTY_SENT_INTERVALS = 2_400;
/** F-9: a long poll fails with 503 at the first tick this long after the end of its interval. */
const OVERDUE_MS = 750;
/** A long poll takes about 300 bytes here and 2 KB in the runtime: at most 200 MB in all. */
const WAITERS_MAX = 100_000;
const DRAIN_POLL_MS = 20;
/** `publishSealed` keeps this many intervals in memory; after a restart there may be hours of them. */
export const APPENDED_MAX = 40;
/** A stream is active for this long after a read: 2 s. */
const ACTIVE_INTERVALS = 8;

/** Copies of the feed in other threads, which serve their own readers. */
export interface FeedReplica {
  /** As `MemoryFeedLog.appendBytes`. */
  appended(interval: number, bodies: ReadonlyMap<string, Uint8Array>): void;
  /** As `MemoryFeedLog.skipTo`. */
  skipped(interval: number): void;
  /** As `MemoryFeedLog.failWaiters`. */
  waitersFailed(reason: string): void;
  load(): { readonly longPolls: number; readonly eventStreams: number };
}

interface StreamWaiter {
  readonly streamId: string;
  readonly waiter: IntervalWaiter;
}

/** One interval of all streams, in memory. */
interface Slot {
  readonly interval: number;
  readonly bodies: ReadonlyMap<string, Uint8Array>;
  readonly empty: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Collects intervals from `from` on, up to `to`, a full page, or one whose body is null. */
function fillPage(
  from: number,
  to: number,
  bodyOf: (interval: number) => Uint8Array | null,
): FeedRange {
  const page: SealedInterval[] = [];
  let bytes = 0;
  for (let interval = from; interval <= to && bytes < RANGE_BYTES; interval++) {
    const body = bodyOf(interval);
    if (!body) break;
    page.push({ interval, body });
    bytes += body.length;
  }
  return { page, next: from + page.length };
}

/** The feed of one process: recent intervals from memory, all others from the database. */
export class MemoryFeedLog implements FeedLog {
  private readonly slots: (Slot | undefined)[] = new Array(RECENT_INTERVALS);
  private readonly waiters = new Map<number, StreamWaiter[]>();
  private waiterCount = 0;
  private draining = false;
  private readonly listeners = new Map<string, Set<IntervalListener>>();
  private listenerCount = 0;
  private readonly lastRead = new Map<string, number>(); // Stream id → watermark at its last read.
  private readonly stored: StoredIntervals;
  private replica: FeedReplica | null = null;

  /**
   * @param sealed the watermark of the database at the start
   * @param unavailable why intervals that are not sealed cannot be served now, or null
   */
  constructor(
    store: FeedStore,
    private sealed: number,
    private readonly unavailableReason: () => string | null = () => null,
  ) {
    this.stored = new StoredIntervals(store);
  }

  watermark(): number {
    return this.sealed;
  }

  read(streamId: string, interval: number, client?: ReadClient): Uint8Array | Promise<Uint8Array> {
    this.lastRead.set(streamId, this.sealed);
    if (interval > this.sealed) return this.readWhenSealed(streamId, interval);
    return this.recentBody(streamId, interval) ?? this.oldBody(streamId, interval, client);
  }

  waitFor(streamId: string, interval: number, waiter: IntervalWaiter): void {
    if (this.draining) throw new Unavailable('The service is stopping.');
    const reason = this.unavailableReason();
    if (reason !== null) throw new Unavailable(reason);
    if (this.waiterCount >= WAITERS_MAX)
      throw new Unavailable('Too many requests wait for intervals.');
    this.lastRead.set(streamId, this.sealed);
    const waiters = this.waiters.get(interval);
    if (waiters) waiters.push({ streamId, waiter });
    else this.waiters.set(interval, [{ streamId, waiter }]);
    this.waiterCount++;
  }

  async range(streamId: string, from: number, to: number, client?: ReadClient): Promise<FeedRange> {
    const end = Math.min(to, this.sealed);
    const firstWithEmpty = Math.max(0, this.sealed - EMPTY_SENT_INTERVALS);
    if (from < firstWithEmpty)
      return this.stored.storedRange(streamId, from, Math.min(end, firstWithEmpty - 1), client);
    if (this.recentBody(streamId, from)) {
      return fillPage(from, end, (interval) => this.recentBody(streamId, interval));
    }
    const { bodies, end: last } = await this.stored.pageWith(streamId, from, this.sealed, client);
    return fillPage(
      from,
      Math.min(end, last),
      (n) => bodies.get(n) ?? encoder.encode(emptyBody(n)),
    );
  }

  subscribe(streamId: string, listener: IntervalListener): () => void {
    const listeners = this.listeners.get(streamId) ?? new Set();
    this.listeners.set(streamId, listeners);
    listeners.add(listener);
    this.listenerCount++;
    return () => {
      if (!listeners.delete(listener)) return;
      this.listenerCount--;
      if (listeners.size === 0) this.listeners.delete(streamId);
    };
  }

  /** Forwards everything from now on to copies of the feed in other threads. */
  share(replica: FeedReplica): void {
    this.replica = replica;
  }

  /** Records that this stream was read in another thread. */
  markActive(streamId: string): void {
    this.lastRead.set(streamId, this.sealed);
  }

  *activeStreams(interval: number): Iterable<string> {
    yield* this.listeners.keys();
    for (const [streamId, at] of this.lastRead) {
      if (at < interval - ACTIVE_INTERVALS) this.lastRead.delete(streamId);
      else if (!this.listeners.has(streamId)) yield streamId;
    }
  }

  /**
   * Adds all intervals up to `to`.
   * @param bodies all bodies since the watermark that are not empty
   */
  publishSealed(to: number, bodies: readonly SealedBody[]): void {
    if (to - this.sealed > APPENDED_MAX) this.skipTo(to - APPENDED_MAX);
    const byInterval = Map.groupBy(bodies, ({ interval }) => interval);
    for (let interval = this.sealed + 1; interval <= to; interval++) {
      this.append(interval, byInterval.get(interval) ?? []);
    }
  }

  /** Adds the next sealed interval, and answers its waiters. */
  append(interval: number, sealed: readonly SealedBody[]): void {
    const bodies = new Map(sealed.map(({ streamId, body }) => [streamId, encoder.encode(body)]));
    this.appendBytes(interval, bodies);
  }

  /** As `append`, with bodies as they are served. Streams without a body are empty. */
  appendBytes(interval: number, bodies: ReadonlyMap<string, Uint8Array>): void {
    this.replica?.appended(interval, bodies);
    const slot: Slot = { interval, bodies, empty: encoder.encode(emptyBody(interval)) };
    this.slots[interval % RECENT_INTERVALS] = slot;
    this.sealed = interval;
    const waiting = this.waiters.get(interval) ?? [];
    this.waiters.delete(interval);
    this.waiterCount -= waiting.length;
    for (const { streamId, waiter } of waiting) waiter.onSealed(bodies.get(streamId) ?? slot.empty);
    for (const [streamId, listeners] of this.listeners) {
      const body = bodies.get(streamId) ?? slot.empty;
      for (const listener of listeners) listener(interval, body);
    }
  }

  /** Moves the watermark past intervals that are not in memory; reads find them in the database. */
  skipTo(interval: number): void {
    this.replica?.skipped(interval);
    this.sealed = interval;
  }

  /**
   * The bodies that were served for the intervals from `first` to `to` and are in memory.
   * @returns `from`: it and all later ones are in memory; `bodies`: those that are not empty
   */
  recentBodies(first: number, to: number): { from: number; bodies: SealedBody[] } {
    const slotOf = (interval: number) => {
      const slot = this.slots[interval % RECENT_INTERVALS];
      return slot?.interval === interval ? slot : null;
    };
    let from = to + 1;
    while (from > first && slotOf(from - 1)) from--;
    const bodies: SealedBody[] = [];
    for (let interval = from; interval <= to; interval++) {
      for (const [streamId, body] of slotOf(interval)?.bodies ?? []) {
        bodies.push({ streamId, interval, body: decoder.decode(body) });
      }
    }
    return { from, bodies };
  }

  /** Fails the waiters of overdue intervals (F-9). */
  failOverdue(nowMs: number): void {
    for (const interval of this.waiters.keys()) {
      if (nowMs < intervalStartMs(interval + 1) + OVERDUE_MS) continue;
      this.fail(interval, 'The interval is not sealed yet.');
    }
  }

  /** Fails all waiters: it is unknown when their interval will be sealed (N-9, N-10). */
  failWaiters(reason: string): void {
    this.replica?.waitersFailed(reason);
    for (const interval of this.waiters.keys()) this.fail(interval, reason);
  }

  /** Rejects new waiters. @returns when all present ones are answered */
  async drain(): Promise<void> {
    this.draining = true;
    // Sealing continues meanwhile. Readers may wait at most four intervals ahead: 1.25 s.
    while (this.waiterCount > 0) await runtime.sleep(DRAIN_POLL_MS);
  }

  /** Numbers of waiters and listeners in all threads. */
  load(): { longPolls: number; eventStreams: number } {
    const { longPolls = 0, eventStreams = 0 } = this.replica?.load() ?? {};
    return {
      longPolls: this.waiterCount + longPolls,
      eventStreams: this.listenerCount + eventStreams,
    };
  }

  private readWhenSealed(streamId: string, interval: number): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.waitFor(streamId, interval, { onSealed: resolve, onFailed: reject });
    return promise;
  }

  private fail(interval: number, reason: string): void {
    const waiting = this.waiters.get(interval) ?? [];
    this.waiters.delete(interval);
    this.waiterCount -= waiting.length;
    const error = new Unavailable(reason);
    for (const { waiter } of waiting) waiter.onFailed(error);
  }

  private recentBody(streamId: string, interval: number): Uint8Array | null {
    const slot = this.slots[interval % RECENT_INTERVALS];
    if (slot?.interval !== interval) return null;
    return slot.bodies.get(streamId) ?? slot.empty;
  }

  private async oldBody(
    streamId: string,
    interval: number,
    client?: ReadClient,
  ): Promise<Uint8Array> {
    const { bodies } = await this.stored.pageWith(streamId, interval, this.sealed, client);
    return bodies.get(interval) ?? encoder.encode(emptyBody(interval));
  }
}
