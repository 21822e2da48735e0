import type { Chats, EventsInterval } from '../../../protocol/feed.ts';
import { type IntervalCount, linesOf } from '../../../protocol/history.ts';
import type { LineKind } from '../../../protocol/moderation.ts';
import { REPORT_POINTS } from '../../../protocol/report.ts';

/** The intervals that a report is of, inclusive. */
export interface Scope {
  readonly from: number;
  /** The one in which the stream ended: the last with what viewers did. */
  readonly end: number;
  /** The last that may have what the producer sent before the end, and had to wait (SPEC C-10). */
  readonly to: number;
}

/** What the intervals of a show add up to so far. */
export interface FeedFigures {
  /** Of all counts that were told: each stands for a second. */
  readonly viewerSeconds: number;
  readonly peak: IntervalCount | null;
  /** The highest count of each stretch, in the order of time; at most as many as a report may have. */
  readonly audience: readonly IntervalCount[];
  readonly lines: Readonly<Record<LineKind, number>>;
  readonly hearts: number;
  readonly discounts: number;
}

export const NO_FIGURES: FeedFigures = {
  viewerSeconds: 0,
  peak: null,
  audience: [],
  lines: { message: 0, question: 0, greeting: 0, cheer: 0, purchase: 0 },
  hearts: 0,
  discounts: 0,
};

/** The figures with those of more intervals, which come after all that were counted. */
export function withIntervals(
  figures: FeedFigures,
  scope: Scope,
  intervals: Iterable<EventsInterval>,
): FeedFigures {
  const audience = [...figures.audience];
  const lines = { ...figures.lines };
  let { viewerSeconds, peak, hearts, discounts } = figures;
  for (const { interval, events } of intervals) {
    const isOfViewers = interval <= scope.end;
    for (const { type, data } of events) {
      if (type === 'view-count' && isOfViewers) {
        const { value: count } = data as { value: number };
        viewerSeconds += count;
        if (peak === null || count > peak.count) peak = { interval, count };
        addPoint(audience, scope, { interval, count });
      } else if (type === 'chats') {
        const chats = data as Chats;
        for (const { kind } of linesOf(chats)) {
          if (isOfViewers || kind === 'purchase') lines[kind]++;
        }
        hearts += isOfViewers ? chats.hearts : 0;
        discounts += chats.discounts;
      }
    }
  }
  return { viewerSeconds, peak, audience, lines, hearts, discounts };
}

function addPoint(audience: IntervalCount[], scope: Scope, point: IntervalCount): void {
  const last = audience.at(-1);
  if (!last || stretchOf(last, scope) !== stretchOf(point, scope)) audience.push(point);
  else if (point.count > last.count) audience[audience.length - 1] = point;
}

function stretchOf({ interval }: IntervalCount, { from, end }: Scope): number {
  return Math.floor((interval - from) / Math.ceil((end - from + 1) / REPORT_POINTS));
}
