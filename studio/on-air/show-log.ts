import {
  type ChatMessage,
  type LoggedEvent,
  loggedEvents,
  messagesOf,
} from '../../protocol/chat-messages.ts';
import type { Chats, FeedEvent } from '../../protocol/feed.ts';
import type { SentMessage } from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { HiddenMessages } from '../../protocol/moderation.ts';

/** An event that viewers received. */
export interface SentEvent {
  /** Unique in the show. */
  readonly id: string;
  readonly interval: number;
  readonly atMs: number;
  readonly event: LoggedEvent;
}

/** The audience at one time. */
export interface CountAt {
  readonly atMs: number;
  readonly count: number;
}

/** What viewers received from a show since the page was opened, limited to the latest. */
export interface ShowLog {
  /** The first interval in the log; null: none yet. */
  readonly firstInterval: number | null;
  /** The last interval in the log; null: none yet. */
  readonly lastInterval: number | null;
  /** Newest last; from interval `messagesFrom` on. */
  readonly messages: readonly SentMessage[];
  /** The first interval with all of its messages; null: none yet. */
  readonly messagesFrom: number | null;
  /** Ids of messages that were hidden since the page was opened. */
  readonly hidden: ReadonlySet<string>;
  readonly counts: readonly CountAt[];
  readonly sent: readonly SentEvent[];
  /** Hearts of the last minute with their times. */
  readonly recentHearts: readonly { readonly atMs: number; readonly count: number }[];
  readonly discounts: number;
}

export const EMPTY_LOG: ShowLog = {
  firstInterval: null,
  lastInterval: null,
  messages: [],
  messagesFrom: null,
  hidden: new Set(),
  counts: [],
  sent: [],
  recentHearts: [],
  discounts: 0,
};

/** Limits of the log; the service has older data. */
const MESSAGES_MAX = 5_000;
const HIDDEN_MAX = 10_000;
const SENT_MAX = 1_000;
/** Half an hour of counts, one per second. */
const COUNTS_MAX = 1_800;
const HEARTS_WINDOW_MS = 60_000;
/** Shorter windows give random rates. */
const HEARTS_WINDOW_MIN_MS = 10_000;

/**
 * The log to which the first interval of a connection is appended: an empty one after a gap, because the history of the
 * page loads only what is before the log.
 */
export function continuedBy(log: ShowLog, interval: number): ShowLog {
  return log.lastInterval !== null && interval > log.lastInterval + 1 ? EMPTY_LOG : log;
}

/** Appends an interval; returns the same log when the interval is not newer than the log. */
export function appendInterval(
  log: ShowLog,
  { interval, events }: { readonly interval: number; readonly events: readonly FeedEvent[] },
): ShowLog {
  if (log.lastInterval !== null && interval <= log.lastInterval) return log;
  const atMs = intervalStartMs(interval);
  const recentHearts = log.recentHearts.filter(({ atMs: at }) => at > atMs - HEARTS_WINDOW_MS);
  return events.reduce(
    (before, event, index) => appendEvent(before, event, atMs, `${interval}-${index}`),
    {
      ...log,
      firstInterval: log.firstInterval ?? interval,
      messagesFrom: log.messagesFrom ?? interval,
      lastInterval: interval,
      recentHearts,
    } satisfies ShowLog as ShowLog,
  );
}

function appendEvent(log: ShowLog, event: FeedEvent, atMs: number, id: string): ShowLog {
  switch (event.type) {
    case 'view-count': {
      const { value } = event.data as { value: number };
      return { ...log, counts: takeLast([...log.counts, { atMs, count: value }], COUNTS_MAX) };
    }
    case 'chats':
      return appendSent(appendChats(log, event.data as Chats, atMs), event, atMs, id);
    default: {
      const hidden = event.type === 'chat-hidden' ? (event.data as HiddenMessages).ids : [];
      const updated = { ...log, hidden: addHidden(log.hidden, hidden) };
      return appendSent(updated, event, atMs, id);
    }
  }
}

function appendSent(log: ShowLog, event: FeedEvent, atMs: number, id: string): ShowLog {
  const [logged] = loggedEvents([event]);
  if (!logged) return log;
  const sent = { id, interval: log.lastInterval ?? 0, atMs, event: logged };
  return { ...log, sent: takeLast([...log.sent, sent], SENT_MAX) };
}

function appendChats(log: ShowLog, chats: Chats, atMs: number): ShowLog {
  const { hearts, discounts } = chats;
  return {
    ...appendMessages(log, messagesOf(chats)),
    recentHearts: hearts === 0 ? log.recentHearts : [...log.recentHearts, { atMs, count: hearts }],
    discounts: log.discounts + discounts,
  };
}

/** Appends messages; beyond the maximum drops whole intervals, which history can load again. */
function appendMessages(log: ShowLog, more: readonly ChatMessage[]): ShowLog {
  if (more.length === 0) return log;
  const interval = log.lastInterval ?? 0;
  const all = [...log.messages, ...more.map((message): SentMessage => ({ ...message, interval }))];
  const dropped = all[all.length - MESSAGES_MAX - 1];
  if (!dropped) return { ...log, messages: all };
  const messagesFrom = dropped.interval + 1;
  return {
    ...log,
    messages: all.filter((message) => message.interval >= messagesFrom),
    messagesFrom,
  };
}

function addHidden(hidden: ReadonlySet<string>, ids: readonly string[]): ReadonlySet<string> {
  return ids.length === 0 ? hidden : new Set(takeLast([...hidden, ...ids], HIDDEN_MAX));
}

function takeLast<T>(all: readonly T[], max: number): readonly T[] {
  return all.length > max ? all.slice(all.length - max) : all;
}

/** Hearts per minute in the last minute, extrapolated when the log is younger. */
export function heartsPerMinute({ recentHearts, firstInterval, lastInterval }: ShowLog): number {
  if (firstInterval === null || lastInterval === null) return 0;
  const sum = recentHearts.reduce((total, { count }) => total + count, 0);
  const coveredMs = intervalStartMs(lastInterval + 1) - intervalStartMs(firstInterval);
  return (sum * 60_000) / Math.min(Math.max(coveredMs, HEARTS_WINDOW_MIN_MS), HEARTS_WINDOW_MS);
}
