import { LRUCache } from 'lru-cache';
import { SharedReads } from '../../platform/shared-reads.ts';
import type { FeedRange, ReadClient } from './feed-log.ts';
import type { SealedBody, SealedPage } from './sealed-sql.ts';

/** A page to read, and for whom. */
export interface PageRead extends SealedPage {
  /** Rate limit key of the client that reads; missing or null: unknown. */
  readonly client?: string | null;
}

/** Reads pages of stored bodies. */
export interface FeedStore {
  readSealed(page: PageRead): Promise<SealedBody[]>;
}

/**
 * Intervals per page: one read serves the next 16 s of a replay. Where a page would be too large, the rest
 * of its intervals is in shorter ones.
 */
const PAGE_INTERVALS = [64, 8] as const;
/**
 * A page ends with the body that reaches this size. Without it, eight clients that read old intervals of
 * 120 KB made all other reads of the database miss their deadline.
 */
const PAGE_BYTES = 256 * 1024;
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** A page of a range ends with the body that reaches this size. Each event stream buffers one page. */
export const RANGE_BYTES = 64 * 1024;
const RANGE_ROWS = 500;

/** Consecutive intervals of a stream. */
export interface StoredPage {
  /** The bodies that are not empty, by interval. */
  readonly bodies: ReadonlyMap<number, Uint8Array>;
  /** The last interval. */
  readonly end: number;
}

// One object for all pages of idle streams: they take a cache entry and nothing more.
const NO_BODIES: StoredPage['bodies'] = new Map();

const encoder = new TextEncoder();

/** Memory of a page, measured: its key, its cache entry and each body's objects. */
function bytesOf({ bodies }: StoredPage): number {
  let bytes = 640;
  for (const body of bodies.values()) bytes += body.length + 200;
  return bytes;
}

/** Sealed intervals in the database, with a cache. */
export class StoredIntervals {
  private readonly pages = new LRUCache<string, StoredPage>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: bytesOf,
  });
  private readonly loading = new SharedReads<StoredPage>();

  constructor(private readonly store: FeedStore) {}

  /**
   * A page with this interval.
   * @param sealed the newest sealed interval
   */
  async pageWith(
    streamId: string,
    interval: number,
    sealed: number,
    client?: ReadClient,
  ): Promise<StoredPage> {
    let next = 0;
    for (const length of PAGE_INTERVALS) {
      const start = interval - (interval % length);
      const range = { from: Math.max(start, next), last: start + length - 1 };
      const page = await this.page(streamId, range, sealed, client);
      if (page.end >= interval) return page;
      next = page.end + 1;
    }
    return this.page(streamId, { from: interval, last: interval }, sealed, client);
  }

  /** A page of the stored bodies from `from` to `to`. It ends before `to` while there may be more. */
  async storedRange(
    streamId: string,
    from: number,
    to: number,
    client?: ReadClient,
  ): Promise<FeedRange> {
    const limits = { limit: RANGE_ROWS, bytesMax: RANGE_BYTES, client: client?.() ?? null };
    const rows = await this.store.readSealed({ streamId, from, to, ...limits });
    const page = rows.map(({ interval, body }) => ({ interval, body: encoder.encode(body) }));
    return { page, next: (page.at(-1)?.interval ?? to) + 1 };
  }

  // Many viewers replay the same minute: one database read serves all of them.
  private page(
    streamId: string,
    { from, last }: { readonly from: number; readonly last: number },
    sealed: number,
    client?: ReadClient,
  ): StoredPage | Promise<StoredPage> {
    const to = Math.min(last, sealed);
    // The key includes `to`: a read of this page that began earlier may lack the newest intervals.
    const key = `${streamId}:${from}:${to}`;
    // One read serves all, in the turn of the client that asked first: after an outage a whole audience reads the
    // same pages.
    return (
      this.pages.get(key) ??
      this.loading.run(key, async () => {
        const page = await this.load(streamId, from, to, client?.() ?? null);
        // Keep a page only when all its intervals are sealed.
        if (to === last) this.pages.set(key, page);
        return page;
      })
    );
  }

  private async load(
    streamId: string,
    from: number,
    to: number,
    client: string | null,
  ): Promise<StoredPage> {
    const limits = { limit: to - from + 1, bytesMax: PAGE_BYTES, client };
    const rows = await this.store.readSealed({ streamId, from, to, ...limits });
    const last = rows.at(-1);
    if (!last) return { bodies: NO_BODIES, end: to };
    const bodies = new Map(rows.map(({ interval, body }) => [interval, encoder.encode(body)]));
    const bytes = bodies.values().reduce((sum, body) => sum + body.length, 0);
    return { bodies, end: bytes >= PAGE_BYTES ? last.interval : to };
  }
}
