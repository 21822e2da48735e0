import type { EventsInterval } from '../../../protocol/feed.ts';
import { scanJson } from '../../platform/scan-json.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { type SealedPage, sealedPage } from './sealed-sql.ts';

/*
 * Pages of the sealed intervals of one stream, for history, exports and reports. Both directions limit
 * a page by rows and by bytes, and read sizes before bodies, so that a page takes a bounded time
 * whatever viewers wrote, and stop parsing after many member names that are numbers.
 */

/** Indexes of members (`scanJson`) after which a page ends, after about 50 ms: 1,000 take 10 µs and 8 KB. */
const PAGE_INDEXES_MAX = 5_000_000;
/** Finds most bodies without such names at a hundredth of the cost of a scan. */
const MAY_HAVE_INDEXES = /"\d{1,5}":/;

/** A page of intervals in ascending order. */
export interface SealedIntervals {
  readonly intervals: readonly EventsInterval[];
  /** First interval of the next page; null when this page is empty: there are no more. */
  readonly next: number | null;
}

/** Reads the first intervals between `from` and `to` (inclusive). */
export async function readSealedForward(
  tx: Tx,
  page: Required<SealedPage>,
): Promise<SealedIntervals> {
  const intervals: EventsInterval[] = [];
  let next: number | null = null;
  let indexes = 0;
  for (const { interval, body } of await sealedPage(tx, page)) {
    intervals.push(JSON.parse(body));
    next = Number(interval) + 1;
    indexes += indexesIn(body);
    if (indexes > PAGE_INDEXES_MAX) break;
  }
  return { intervals, next };
}

/** A search for items in the newest intervals before a position. */
export interface BackwardSearch<Item> {
  readonly streamId: string;
  /** Search intervals before this one; null: from the newest. */
  readonly before: number | null;
  /** End the page with the interval that brings it to this many items. */
  readonly limit: number;
  /** Most intervals and bytes that one page examines, whether they match or not. */
  readonly intervalsMax: number;
  readonly bytesMax: number;
  /** SQL condition on `interval` and `body` that every interval with items meets. Others may. */
  readonly condition: string;
  /** The items of an interval, oldest first. */
  readonly itemsOf: (interval: EventsInterval) => Item[];
}

/** The intervals that one page examines. */
interface ExaminedRange {
  readonly from: number;
  readonly before: number;
  /** Whether the stream has no interval before `from`. */
  readonly isLast: boolean;
}

/**
 * Reads items of whole intervals, newest first.
 * @returns `next`: `before` of the next page, which may be needed even if this page is empty; null
 *   after the last page
 */
export async function readSealedBackward<Item>(
  tx: Tx,
  search: BackwardSearch<Item>,
): Promise<{ results: Item[]; next: number | null }> {
  const range = await rangeBefore(tx, search);
  const bodies = await matchingBodies(tx, search, range);
  const results: Item[] = [];
  let indexes = 0;
  for (const { interval, body } of bodies) {
    results.push(...search.itemsOf(JSON.parse(body)).reverse());
    indexes += indexesIn(body);
    if (results.length >= search.limit || indexes > PAGE_INDEXES_MAX) {
      return { results, next: Number(interval) };
    }
  }
  // Matching bodies without items used up the query's limit: continue after the last of them.
  const last = bodies.length < search.limit ? undefined : bodies.at(-1);
  if (last) return { results, next: Number(last.interval) };
  return { results, next: range.isLast ? null : range.from };
}

async function rangeBefore<Item>(
  tx: Tx,
  { streamId, before, intervalsMax, bytesMax }: BackwardSearch<Item>,
): Promise<ExaminedRange> {
  const end = before ?? Number.MAX_SAFE_INTEGER;
  const rows = await tx.query<{ interval: number; bytes: number }>(
    `select interval, octet_length(body) as bytes from sealed_intervals
     where stream_id = $1 and interval < $2 order by interval desc limit $3`,
    [streamId, end, intervalsMax],
  );
  let from = end;
  let total = 0;
  for (const { interval, bytes } of rows) {
    from = Number(interval);
    total += Number(bytes);
    if (total >= bytesMax) return { from, before: end, isLast: false };
  }
  return { from, before: end, isLast: rows.length < intervalsMax };
}

/**
 * Matching bodies of the range, newest first. `limit` of them usually fill the page: most have an
 * item. PostgreSQL stores bodies compressed and would decompress one for each `like` of the
 * condition; `|| ''` makes it decompress each once.
 */
function matchingBodies<Item>(
  tx: Tx,
  { streamId, limit, intervalsMax, condition }: BackwardSearch<Item>,
  { from, before }: ExaminedRange,
): Promise<readonly { readonly interval: number; readonly body: string }[]> {
  return tx.query<{ interval: number; body: string }>(
    `select interval, body from
       (select interval, body || '' as body from sealed_intervals
        where stream_id = $1 and interval >= $2 and interval < $3
        order by interval desc limit $4) decompressed
     where ${condition} order by interval desc limit $5`,
    [streamId, from, before, intervalsMax, limit],
  );
}

/** The number of `JsonScan.indexes` of a stored body. */
export function indexesIn(body: string): number {
  if (!MAY_HAVE_INDEXES.test(body)) return 0;
  return scanJson(body, Number.POSITIVE_INFINITY)?.indexes ?? 0;
}
