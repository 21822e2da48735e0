import { LRUCache } from 'lru-cache';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type {
  FeedLog,
  FeedRange,
  IntervalListener,
  IntervalWaiter,
  SealedInterval,
} from './feed-log.ts';
import { emptyBody } from './interval-body.ts';
import type { SealedBody, sealingProcedures } from './sealing-sql.ts';

type FeedStore = Pick<Calls<typeof sealingProcedures>, 'readSealed'>;

/** Intervals kept in memory: a minute, so that live viewers never touch the database. */
export const RECENT_INTERVALS = 240;
/** Intervals read from the database at once: a replay asks for the next ones soon. */
const PAGE_INTERVALS = 64;
const PAGES_BYTES_MAX = 64 * 1024 * 1024;
/** Event streams get empty intervals too if they ended within 10 minutes. */
const EMPTY_SENT_INTERVALS = 2_400;
/** A page of a range ends with the body that reaches this: what one event stream holds at once. */
export const RANGE_BYTES = 256 * 1024;
const RANGE_ROWS = 500;
// F-9: a held request hears 503 at the first beat this long after the end of its interval.
const HELD_LATE_MS = 750;
// A held request is about 300 bytes here and 2 KB in the runtime: at most 200 MB.
const HELD_MAX = 100_000;
const DRAIN_POLL_MS = 20;
/** A stream counts as watched for this long after a read: 2 s. */
const WATCHED_INTERVALS = 8;

/** Other threads that show the same feed. */
export interface FeedReaders {
  /** As `MemoryFeedLog.appendBytes`; all other bodies are empty. */
  appended(interval: number, bodies: ReadonlyMap<string, Uint8Array>): void;
  /** As `MemoryFeedLog.skipTo`. */
  skipped(interval: number): void;
  /** As `MemoryFeedLog.refuseHeld`. */
  refused(reason: string): void;
  load(): { readonly held: number; readonly listeners: number };
}

interface Held {
  readonly streamId: string;
  readonly holder: IntervalWaiter;
}

interface Slot {
  readonly interval: number;
  readonly bodies: ReadonlyMap<string, Uint8Array>;
  readonly empty: Uint8Array;
}

type Page = ReadonlyMap<number, Uint8Array>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// A stream that is quiet, or was not there yet, costs a place in the cache and nothing more.
const NO_ROWS: Page = new Map();

/** What a page takes in memory, measured: its key, its place in the cache, each body's objects. */
function bytesOf(page: Page): number {
  let bytes = 640;
  for (const body of page.values()) bytes += body.length + 200;
  return bytes;
}

const pageStart = (interval: number): number => interval - (interval % PAGE_INTERVALS);

/** The intervals from `from` to `to`, up to the one that fills the page or has no body here. */
function filled(
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

/** The feed of one process: recent intervals in memory, all others from the database. */
export class MemoryFeedLog implements FeedLog {
  private readonly slots: (Slot | undefined)[] = new Array(RECENT_INTERVALS);
  private readonly held = new Map<number, Held[]>();
  private heldCount = 0;
  private draining = false;
  private readonly listeners = new Map<string, Set<IntervalListener>>();
  private listenerCount = 0;
  private readonly lastRead = new Map<string, number>();
  private readonly pages = new LRUCache<string, Page>({
    maxSize: PAGES_BYTES_MAX,
    sizeCalculation: bytesOf,
  });
  private readonly loading = new Map<string, Promise<Page>>();
  private readers: FeedReaders | null = null;

  /**
   * @param sealed the watermark of the database at the start
   * @param unreachable why intervals that are not sealed cannot be served now, or null
   */
  constructor(
    private readonly store: FeedStore,
    private sealed: number,
    private readonly unreachable: () => string | null = () => null,
  ) {}

  sealedTo(): number {
    return this.sealed;
  }

  read(streamId: string, interval: number): Uint8Array | Promise<Uint8Array> {
    this.lastRead.set(streamId, this.sealed);
    if (interval > this.sealed) return this.sealedLater(streamId, interval);
    return this.recent(streamId, interval) ?? this.old(streamId, interval);
  }

  hold(streamId: string, interval: number, holder: IntervalWaiter): void {
    if (this.draining) throw new Unavailable('The service is stopping.');
    const reason = this.unreachable();
    if (reason !== null) throw new Unavailable(reason);
    if (this.heldCount >= HELD_MAX) throw new Unavailable('Too many requests are held.');
    this.lastRead.set(streamId, this.sealed);
    const waiting = this.held.get(interval);
    if (waiting) waiting.push({ streamId, holder });
    else this.held.set(interval, [{ streamId, holder }]);
    this.heldCount++;
  }

  async range(streamId: string, from: number, to: number): Promise<FeedRange> {
    const end = Math.min(to, this.sealed);
    const firstWithEmpty = Math.max(0, this.sealed - EMPTY_SENT_INTERVALS);
    if (from < firstWithEmpty)
      return this.stored(streamId, from, Math.min(end, firstWithEmpty - 1));
    if (this.recent(streamId, from)) {
      return filled(from, end, (interval) => this.recent(streamId, interval));
    }
    const first = pageStart(from);
    const last = Math.min(end, first + PAGE_INTERVALS - 1);
    const page = await this.page(streamId, first);
    return filled(from, last, (n) => page.get(n) ?? encoder.encode(emptyBody(n)));
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

  /** Tells others, who have readers of their own, all that this is told from here on. */
  share(readers: FeedReaders): void {
    this.readers = readers;
  }

  /** Somebody read this stream elsewhere. */
  noteRead(streamId: string): void {
    this.lastRead.set(streamId, this.sealed);
  }

  *watched(interval: number): Iterable<string> {
    yield* this.listeners.keys();
    for (const [streamId, at] of this.lastRead) {
      if (at < interval - WATCHED_INTERVALS) this.lastRead.delete(streamId);
      else if (!this.listeners.has(streamId)) yield streamId;
    }
  }

  /** Takes in a sealed interval: whoever waits for it gets it. Called in order, each once. */
  append(interval: number, sealed: readonly SealedBody[]): void {
    const bodies = new Map(sealed.map(({ streamId, body }) => [streamId, encoder.encode(body)]));
    this.appendBytes(interval, bodies);
  }

  /** `append` of bodies as they are served. */
  appendBytes(interval: number, bodies: ReadonlyMap<string, Uint8Array>): void {
    this.readers?.appended(interval, bodies);
    const slot: Slot = { interval, bodies, empty: encoder.encode(emptyBody(interval)) };
    this.slots[interval % RECENT_INTERVALS] = slot;
    this.sealed = interval;
    const waiting = this.held.get(interval) ?? [];
    this.held.delete(interval);
    this.heldCount -= waiting.length;
    for (const { streamId, holder } of waiting) holder.sealed(bodies.get(streamId) ?? slot.empty);
    for (const [streamId, listeners] of this.listeners) {
      const body = bodies.get(streamId) ?? slot.empty;
      for (const listener of listeners) listener(interval, body);
    }
  }

  /**
   * Takes in that the watermark rose past intervals about which nothing is known here; they
   * are read from the database.
   */
  skipTo(interval: number): void {
    this.readers?.skipped(interval);
    this.sealed = interval;
  }

  /**
   * What readers were given of the intervals from `first` to `to`, as far as it is in memory.
   * @returns the interval from which on it is, and all bodies since that are not empty
   */
  inMemory(first: number, to: number): { from: number; bodies: SealedBody[] } {
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

  /** Refuses held requests whose interval should have been sealed by now (F-9). */
  expire(nowMs: number): void {
    for (const interval of this.held.keys()) {
      if (nowMs < intervalStartMs(interval + 1) + HELD_LATE_MS) continue;
      this.refuse(interval, 'The interval is not sealed yet.');
    }
  }

  /** Refuses every held request: nobody knows when its interval will be sealed (N-9, N-10). */
  refuseHeld(reason: string): void {
    this.readers?.refused(reason);
    for (const interval of this.held.keys()) this.refuse(interval, reason);
  }

  /** Takes no more requests to hold. @returns when those that are held have their answer */
  async drain(): Promise<void> {
    this.draining = true;
    // Sealing goes on meanwhile: what is held is at most four intervals ahead, so 1.25 s away.
    while (this.heldCount > 0) await Bun.sleep(DRAIN_POLL_MS);
  }

  /** How many wait and listen, for metrics and for the drain. */
  load(): { held: number; listeners: number } {
    const { held = 0, listeners = 0 } = this.readers?.load() ?? {};
    return { held: this.heldCount + held, listeners: this.listenerCount + listeners };
  }

  private sealedLater(streamId: string, interval: number): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.hold(streamId, interval, { sealed: resolve, refused: reject });
    return promise;
  }

  private refuse(interval: number, reason: string): void {
    const waiting = this.held.get(interval) ?? [];
    this.held.delete(interval);
    this.heldCount -= waiting.length;
    const error = new Unavailable(reason);
    for (const { holder } of waiting) holder.refused(error);
  }

  private recent(streamId: string, interval: number): Uint8Array | null {
    const slot = this.slots[interval % RECENT_INTERVALS];
    if (slot?.interval !== interval) return null;
    return slot.bodies.get(streamId) ?? slot.empty;
  }

  private async old(streamId: string, interval: number): Promise<Uint8Array> {
    const page = await this.page(streamId, pageStart(interval));
    return page.get(interval) ?? encoder.encode(emptyBody(interval));
  }

  /** A page of what the database holds; it ends before `to` as long as there may be more. */
  private async stored(streamId: string, from: number, to: number): Promise<FeedRange> {
    const limits = { limit: RANGE_ROWS, bytesMax: RANGE_BYTES };
    const rows = await this.store.readSealed({ streamId, from, to, ...limits });
    const page = rows.map(({ interval, body }) => ({ interval, body: encoder.encode(body) }));
    return { page, next: (page.at(-1)?.interval ?? to) + 1 };
  }

  // Many viewers replay the same minute: one read of the database serves all of them.
  private page(streamId: string, first: number): Page | Promise<Page> {
    const to = Math.min(first + PAGE_INTERVALS - 1, this.sealed);
    // A read under way of a page that has grown since would lack what was sealed meanwhile.
    const key = `${streamId}:${first}:${to}`;
    const known = this.pages.get(key) ?? this.loading.get(key);
    if (known) return known;
    const loading = this.loadPage(streamId, first, to, key).finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  private async loadPage(streamId: string, first: number, to: number, key: string): Promise<Page> {
    const rows = await this.store.readSealed({ streamId, from: first, to, limit: PAGE_INTERVALS });
    const bodies = rows.map(({ interval, body }) => [interval, encoder.encode(body)] as const);
    const page = bodies.length === 0 ? NO_ROWS : new Map(bodies);
    // A page that is not sealed to its end would be wrong a moment later.
    if (to === first + PAGE_INTERVALS - 1) this.pages.set(key, page);
    return page;
  }
}
