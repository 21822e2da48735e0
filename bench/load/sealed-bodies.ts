import type { EventsInterval } from '../../protocol/feed.ts';
import type { ViewCount } from '../../protocol/view-counts.ts';
import type { ParsedResponse } from './response-reader.ts';

const CACHED_INTERVALS = 16;

/** The first received body of each recent interval; all viewers must get the same bytes. */
export class SealedBodies {
  /** The view counts in all intervals. */
  readonly counts: { readonly interval: number; readonly value: number }[] = [];
  private readonly cached: ({ interval: number; body: Buffer } | undefined)[] = new Array(
    CACHED_INTERVALS,
  );

  /** @returns an error when the body differs from the first one or has another number; else null */
  check(interval: number, bytes: Buffer, { bodyStart, end }: ParsedResponse): string | null {
    const known = this.cached[interval % CACHED_INTERVALS];
    if (known?.interval !== interval) return this.cache(interval, bytes.subarray(bodyStart, end));
    const isSame = bytes.compare(known.body, 0, known.body.length, bodyStart, end) === 0;
    return isSame ? null : `interval ${interval} has another body`;
  }

  private cache(interval: number, bytes: Buffer): string | null {
    const body = Buffer.from(bytes);
    this.cached[interval % CACHED_INTERVALS] = { interval, body };
    const parsed = JSON.parse(body.toString()) as EventsInterval;
    for (const event of parsed.events) {
      if (event.type !== 'view-count') continue;
      this.counts.push({ interval, value: (event.data as ViewCount).value });
    }
    return parsed.interval === interval ? null : `asked for ${interval}, got ${parsed.interval}`;
  }
}
