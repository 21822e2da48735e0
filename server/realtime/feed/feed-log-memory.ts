import { LRUCache } from 'lru-cache';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { ConcurrencyLimiter } from '../../platform/concurrency-limiter.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type {
  FeedLog,
  FeedRange,
  IntervalListener,
  IntervalWaiter,
  SealedInterval,
} from './feed-log.ts';
import { emptyBody } from './interval-body.ts';
import type { SealedBody, SealedPage, sealedProcedures } from './sealed-sql.ts';

type FeedStore = Pick<Calls<typeof sealedProcedures>, 'readSealed'>;

/** Intervals in memory: a minute, so that reads of live viewers never go to the database. */
export const RECENT_INTERVALS = 240;
/** Intervals per database read: one read serves the next 16 s of a replay. */
const PAGE_INTERVALS = 64;
const PAGES_BYTES_MAX = 64 * 1024 * 1024;
/** Ranges include empty intervals of the last 10 minutes, and leave out older empty ones. */
const EMPTY_SENT_INTERVALS = 2_400;
/** A page of a range ends with the body that reaches this size. Each event stream buffers one page. */
export const RANGE_BYTES = 64 * 1024;
const RANGE_ROWS = 500;
/**
 * Reads of pages at once. Anybody may read old intervals: 1,500 event streams a second, whose pages were all
 * read at once, made most token requests and studio requests miss their deadline.
 */
const PAGE_READS_MAX = 4;
/** At 1,000 pages a second the last of them waits half a second. */
const PAGE_READS_QUEUED_MAX = 500;
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

/** Bodies of a stream that are not empty, by interval. */
type Page = ReadonlyMap<number, Uint8Array>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// One object for all pages of idle streams: they take a cache entry and nothing more.
const NO_ROWS: Page = new Map();

/** Memory of a page, measured: its key, its cache entry and each body's objects. */
function bytesOf(page: Page): number {
  let bytes = 640;
  for (const body of page.values()) bytes += body.length + 200;
  return bytes;
}

const pageStart = (interval: number): number => interval - (interval % PAGE_INTERVALS);

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
  private readonly pages = new LRUCache<string, Page>({
    maxSize: PAGES_BYTES_MAX,
    sizeCalculation: bytesOf,
  });
  private readonly loading = new Map<string, Promise<Page>>();
  private readonly pageReads = new ConcurrencyLimiter(
    PAGE_READS_MAX,
    PAGE_READS_QUEUED_MAX,
    'Too many older intervals are being read at once.',
  );
  private replica: FeedReplica | null = null;

  /**
   * @param sealed the watermark of the database at the start
   * @param unavailable why intervals that are not sealed cannot be served now, or null
   */
  constructor(
    private readonly store: FeedStore,
    private sealed: number,
    private readonly unavailableReason: () => string | null = () => null,
  ) {}

  watermark(): number {
    return this.sealed;
  }

  read(streamId: string, interval: number): Uint8Array | Promise<Uint8Array> {
    this.lastRead.set(streamId, this.sealed);
    if (interval > this.sealed) return this.readWhenSealed(streamId, interval);
    return this.recentBody(streamId, interval) ?? this.oldBody(streamId, interval);
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

  async range(streamId: string, from: number, to: number): Promise<FeedRange> {
    const end = Math.min(to, this.sealed);
    const firstWithEmpty = Math.max(0, this.sealed - EMPTY_SENT_INTERVALS);
    if (from < firstWithEmpty)
      return this.storedPage(streamId, from, Math.min(end, firstWithEmpty - 1));
    if (this.recentBody(streamId, from)) {
      return fillPage(from, end, (interval) => this.recentBody(streamId, interval));
    }
    const first = pageStart(from);
    const last = Math.min(end, first + PAGE_INTERVALS - 1);
    const page = await this.cachedPage(streamId, first);
    return fillPage(from, last, (n) => page.get(n) ?? encoder.encode(emptyBody(n)));
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

  private async oldBody(streamId: string, interval: number): Promise<Uint8Array> {
    const page = await this.cachedPage(streamId, pageStart(interval));
    return page.get(interval) ?? encoder.encode(emptyBody(interval));
  }

  /** A page of stored bodies. It ends before `to` while there may be more. */
  private async storedPage(streamId: string, from: number, to: number): Promise<FeedRange> {
    const limits = { limit: RANGE_ROWS, bytesMax: RANGE_BYTES };
    const rows = await this.readPage({ streamId, from, to, ...limits });
    const page = rows.map(({ interval, body }) => ({ interval, body: encoder.encode(body) }));
    return { page, next: (page.at(-1)?.interval ?? to) + 1 };
  }

  // Many viewers replay the same minute: one database read serves all of them.
  private cachedPage(streamId: string, first: number): Page | Promise<Page> {
    const to = Math.min(first + PAGE_INTERVALS - 1, this.sealed);
    // The key includes `to`: a read of this page that began earlier may lack the newest intervals.
    const key = `${streamId}:${first}:${to}`;
    const cached = this.pages.get(key) ?? this.loading.get(key);
    if (cached) return cached;
    const loading = this.loadPage(streamId, first, to, key).finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  private async loadPage(streamId: string, first: number, to: number, key: string): Promise<Page> {
    const rows = await this.readPage({ streamId, from: first, to, limit: PAGE_INTERVALS });
    const bodies = rows.map(({ interval, body }) => [interval, encoder.encode(body)] as const);
    const page = bodies.length === 0 ? NO_ROWS : new Map(bodies);
    // Cache a page only when all its intervals are sealed.
    if (to === first + PAGE_INTERVALS - 1) this.pages.set(key, page);
    return page;
  }

  /** Reads a page when it is its turn: streams take turns. */
  private readPage(page: SealedPage): Promise<SealedBody[]> {
    return this.pageReads.run(page.streamId, async () => {
      try {
        return await this.store.readSealed(page);
      } catch (error) {
        // The others would wait for the same deadline, one after the other.
        if (error instanceof Unavailable) this.pageReads.rejectQueued(error);
        throw error;
      }
    });
  }
}
