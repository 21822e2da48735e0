import type { Chats, FeedEvent } from '../../protocol/feed.ts';
import {
  type ChatLine,
  linesOf,
  type SentLine,
  sentIn,
  type ToldEvent,
} from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { HiddenLines } from '../../protocol/moderation.ts';

/** An event that viewers got. */
export interface SentEvent {
  /** Names it among all events of the show. */
  readonly id: string;
  readonly interval: number;
  readonly atMs: number;
  readonly event: ToldEvent;
}

/** How many viewers there were at one moment. */
export interface CountAt {
  readonly atMs: number;
  readonly count: number;
}

/** What viewers have seen of a show since the page is open. */
export interface ShowRecord {
  /** The first interval that is in it; null: none yet. */
  readonly first: number | null;
  /** The last interval that is in it; null: none yet. */
  readonly interval: number | null;
  /** The newest last, without those before `linesFrom`. */
  readonly lines: readonly SentLine[];
  /** The first interval whose lines are all in it; null: none yet. */
  readonly linesFrom: number | null;
  /** Lines that were hidden meanwhile. */
  readonly hidden: ReadonlySet<string>;
  readonly counts: readonly CountAt[];
  readonly sent: readonly SentEvent[];
  /** Hearts with the times they came at, of the last minute. */
  readonly recentHearts: readonly { readonly atMs: number; readonly count: number }[];
  readonly discounts: number;
}

export const EMPTY_RECORD: ShowRecord = {
  first: null,
  interval: null,
  lines: [],
  linesFrom: null,
  hidden: new Set(),
  counts: [],
  sent: [],
  recentHearts: [],
  discounts: 0,
};

/** So much is kept; the service has what was before. */
const LINES_MAX = 5_000;
const HIDDEN_MAX = 10_000;
const SENT_MAX = 1_000;
/** Counts come once a second: half an hour. */
const COUNTS_MAX = 1_800;
const HEARTS_OF_MS = 60_000;
/** A rate by less than this is chance. */
const HEARTS_OF_LEAST_MS = 10_000;

/** The record with one more interval; the same one when it has that interval. */
export function withInterval(
  record: ShowRecord,
  { interval, events }: { readonly interval: number; readonly events: readonly FeedEvent[] },
): ShowRecord {
  if (record.interval !== null && interval <= record.interval) return record;
  const atMs = intervalStartMs(interval);
  const recentHearts = record.recentHearts.filter(({ atMs: at }) => at > atMs - HEARTS_OF_MS);
  return events.reduce(
    (before, event, place) => withEvent(before, event, atMs, `${interval}-${place}`),
    {
      ...record,
      first: record.first ?? interval,
      linesFrom: record.linesFrom ?? interval,
      interval,
      recentHearts,
    } satisfies ShowRecord as ShowRecord,
  );
}

function withEvent(record: ShowRecord, event: FeedEvent, atMs: number, id: string): ShowRecord {
  switch (event.type) {
    case 'view-count': {
      const { value } = event.data as { value: number };
      return { ...record, counts: newest([...record.counts, { atMs, count: value }], COUNTS_MAX) };
    }
    case 'chats':
      return withSent(withChats(record, event.data as Chats, atMs), event, atMs, id);
    default: {
      const hidden = event.type === 'chat-hidden' ? (event.data as HiddenLines).ids : [];
      const next = { ...record, hidden: withHidden(record.hidden, hidden) };
      return withSent(next, event, atMs, id);
    }
  }
}

function withSent(record: ShowRecord, event: FeedEvent, atMs: number, id: string): ShowRecord {
  const [told] = sentIn([event]);
  if (!told) return record;
  const sent = { id, interval: record.interval ?? 0, atMs, event: told };
  return { ...record, sent: newest([...record.sent, sent], SENT_MAX) };
}

function withChats(record: ShowRecord, chats: Chats, atMs: number): ShowRecord {
  const { hearts, discounts } = chats;
  return {
    ...withLines(record, linesOf(chats)),
    recentHearts:
      hearts === 0 ? record.recentHearts : [...record.recentHearts, { atMs, count: hearts }],
    discounts: record.discounts + discounts,
  };
}

/** What is too much goes by whole intervals, so that what was before can be asked for. */
function withLines(record: ShowRecord, more: readonly ChatLine[]): ShowRecord {
  if (more.length === 0) return record;
  const interval = record.interval ?? 0;
  const all = [...record.lines, ...more.map((line): SentLine => ({ ...line, interval }))];
  const dropped = all[all.length - LINES_MAX - 1];
  if (!dropped) return { ...record, lines: all };
  const linesFrom = dropped.interval + 1;
  return { ...record, lines: all.filter((line) => line.interval >= linesFrom), linesFrom };
}

function withHidden(hidden: ReadonlySet<string>, ids: readonly string[]): ReadonlySet<string> {
  return ids.length === 0 ? hidden : new Set(newest([...hidden, ...ids], HIDDEN_MAX));
}

function newest<T>(all: readonly T[], most: number): readonly T[] {
  return all.length > most ? all.slice(all.length - most) : all;
}

/** Hearts a minute, by those of the last one; by what there is of it when the record is younger. */
export function heartsAMinute({ recentHearts, first, interval }: ShowRecord): number {
  if (first === null || interval === null) return 0;
  const sum = recentHearts.reduce((total, { count }) => total + count, 0);
  const heardMs = intervalStartMs(interval + 1) - intervalStartMs(first);
  return (sum * 60_000) / Math.min(Math.max(heardMs, HEARTS_OF_LEAST_MS), HEARTS_OF_MS);
}
