import type { EventsInterval } from '../../protocol/feed.ts';
import type { ViewCount } from '../../protocol/view-counts.ts';
import type { Answer } from './answer-reader.ts';

const KEPT = 16;

/** Bodies of intervals as they came first: everybody must get the same bytes. */
export class SealedBodies {
  /** Each count of viewers that an interval told. */
  readonly counts: { readonly interval: number; readonly value: number }[] = [];
  private readonly kept: ({ interval: number; body: Buffer } | undefined)[] = new Array(KEPT);

  /** @returns what is wrong with the body of this interval */
  check(interval: number, bytes: Buffer, { bodyAt, endAt }: Answer): string | null {
    const known = this.kept[interval % KEPT];
    if (known?.interval !== interval) return this.keep(interval, bytes.subarray(bodyAt, endAt));
    const isSame = bytes.compare(known.body, 0, known.body.length, bodyAt, endAt) === 0;
    return isSame ? null : `interval ${interval} has another body`;
  }

  private keep(interval: number, bytes: Buffer): string | null {
    const body = Buffer.from(bytes);
    this.kept[interval % KEPT] = { interval, body };
    const told = JSON.parse(body.toString()) as EventsInterval;
    for (const event of told.events) {
      if (event.type !== 'view-count') continue;
      this.counts.push({ interval, value: (event.data as ViewCount).value });
    }
    return told.interval === interval ? null : `asked for ${interval}, got ${told.interval}`;
  }
}
