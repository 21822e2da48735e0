import type { ChatMode, ChatState, EventsInterval, PinnedMessage } from '../../sdk/types.ts';

/** The moderation state of a chat. The page stores it as JSON. */
export interface Moderation {
  readonly mode: ChatMode;
  /** The message above the chat; null: none. */
  readonly pinned: PinnedMessage | null;
  /** Ids of hidden messages, newest last. */
  readonly hidden: readonly string[];
  /** The intervals of the last changes of mode and pinned message; older events change neither. */
  readonly modeInterval: number;
  readonly pinnedInterval: number;
}

type FeedEvent = EventsInterval['events'][number] & { readonly interval: number };

/** Ten times what the message list holds: older ids hide nothing. */
const HIDDEN_MAX = 1_000;
/**
 * The service's state may be this much older than the moment at which the page received it: events
 * since then are newer.
 */
export const RESPONSE_DELAY_INTERVALS = 20;

export const UNMODERATED: Moderation = {
  mode: { slowModeMs: 0, paused: false },
  pinned: null,
  hidden: [],
  modeInterval: 0,
  pinnedInterval: 0,
};

/**
 * Applies an event on screen. A viewer who seeks back gets old events again: of those, hidden
 * messages still apply, mode and pinned message do not.
 * @returns the same object when nothing changed
 */
export function applyEvent(before: Moderation, { type, data, interval }: FeedEvent): Moderation {
  if (type === 'chat-hidden') return withHidden(before, (data as { ids: string[] }).ids);
  if (interval < Math.max(before.modeInterval, before.pinnedInterval)) return before;
  if (type === 'chat-mode') return { ...before, mode: data as ChatMode, modeInterval: interval };
  if (type !== 'chat-pinned') return before;
  const { line: pinned } = data as { line: PinnedMessage | null };
  return { ...before, pinned, pinnedInterval: interval };
}

/** Applies the chat state of the stream resource. @param interval the current one */
export function applyChatState(before: Moderation, chat: ChatState, interval: number): Moderation {
  const { slow_mode_ms: slowModeMs, paused, pinned, hidden } = chat;
  const readInterval = interval - RESPONSE_DELAY_INTERVALS;
  const after = withHidden(before, hidden.toReversed());
  return {
    ...after,
    ...(before.modeInterval <= readInterval && {
      mode: { slowModeMs, paused },
      modeInterval: readInterval,
    }),
    ...(before.pinnedInterval <= readInterval && { pinned, pinnedInterval: readInterval }),
  };
}

function withHidden(before: Moderation, ids: readonly string[]): Moderation {
  const added = ids.filter((id) => !before.hidden.includes(id));
  if (added.length === 0) return before;
  return { ...before, hidden: [...before.hidden, ...added].slice(-HIDDEN_MAX) };
}
