import { messagesOf } from '../../../protocol/chat-messages.ts';
import type { Chats, EventsInterval } from '../../../protocol/feed.ts';
import type { IntervalCount } from '../../../protocol/history.ts';
import { type MessageKind, REPORT_POINTS } from '../../../protocol/limits.ts';

/** The intervals that a report covers, inclusive. */
export interface Scope {
  readonly from: number;
  /** The interval in which the stream ended: the last that counts for viewers' activity. */
  readonly end: number;
  /** The last interval that may hold events sent before the end but delayed (SPEC C-10). */
  readonly to: number;
}

/** Running totals over the intervals of a show. Stored as JSON; field names must stay. */
export interface FeedFigures {
  /** Sum of all published counts; one is published each second. */
  readonly viewerSeconds: number;
  readonly peak: IntervalCount | null;
  /** The highest count of each part of the show, in order; at most `REPORT_POINTS`. */
  readonly audience: readonly IntervalCount[];
  readonly lines: Readonly<Record<MessageKind, number>>;
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

/** The totals with further intervals added, which must follow those already added. */
export function withIntervals(
  figures: FeedFigures,
  scope: Scope,
  intervals: Iterable<EventsInterval>,
): FeedFigures {
  const audience = [...figures.audience];
  const lines = { ...figures.lines };
  let { viewerSeconds, peak, hearts, discounts } = figures;
  for (const { interval, events } of intervals) {
    const isBeforeEnd = interval <= scope.end;
    for (const { type, data } of events) {
      if (type === 'view-count' && isBeforeEnd) {
        const { value: count } = data as { value: number };
        viewerSeconds += count;
        if (peak === null || count > peak.count) peak = { interval, count };
        addPoint(audience, scope, { interval, count });
      } else if (type === 'chats') {
        const chats = data as Chats;
        for (const { kind } of messagesOf(chats)) {
          if (isBeforeEnd || kind === 'purchase') lines[kind]++;
        }
        hearts += isBeforeEnd ? chats.hearts : 0;
        discounts += chats.discounts;
      }
    }
  }
  return { viewerSeconds, peak, audience, lines, hearts, discounts };
}

function addPoint(audience: IntervalCount[], scope: Scope, point: IntervalCount): void {
  const last = audience.at(-1);
  if (!last || partOf(last, scope) !== partOf(point, scope)) audience.push(point);
  else if (point.count > last.count) audience[audience.length - 1] = point;
}

function partOf({ interval }: IntervalCount, { from, end }: Scope): number {
  return Math.floor((interval - from) / Math.ceil((end - from + 1) / REPORT_POINTS));
}
