import type { ChatMode, ChatState, EventsInterval, PinnedMessage } from '../../sdk/types.ts';

/** The moderation state of a chat. The page stores it as JSON. */
export interface Moderation {
  readonly mode: ChatMode;
  /** The message above the chat; null: none. */
  readonly pinned: PinnedMessage | null;
  /** Ids of hidden messages, newest last. */
  readonly hidden: readonly string[];
  /** The interval of the last change; older events do not change mode or pinned message. */
  readonly interval: number;
}

type FeedEvent = EventsInterval['events'][number] & { readonly interval: number };

/** Ten times what the message list holds: older ids hide nothing. */
const HIDDEN_MAX = 1_000;
/** The service's state may be this much older than the moment at which the page received it. */
export const RESPONSE_DELAY_INTERVALS = 20;

export const UNMODERATED: Moderation = {
  mode: { slowModeMs: 0, paused: false },
  pinned: null,
  hidden: [],
  interval: 0,
};

/**
 * Applies an event on screen. A viewer who seeks back gets old events again: of those, hidden
 * messages still apply, mode and pinned message do not.
 * @returns the same object when nothing changed
 */
export function applyEvent(before: Moderation, { type, data, interval }: FeedEvent): Moderation {
  if (type === 'chat-hidden') return withHidden(before, (data as { ids: string[] }).ids);
  if (interval < before.interval) return before;
  if (type === 'chat-mode') return { ...before, mode: data as ChatMode, interval };
  if (type !== 'chat-pinned') return before;
  return { ...before, pinned: (data as { line: PinnedMessage | null }).line, interval };
}

/** Applies the chat state of the stream resource. @param interval the current one */
export function applyChatState(before: Moderation, chat: ChatState, interval: number): Moderation {
  const { slow_mode_ms: slowModeMs, paused, pinned, hidden } = chat;
  return {
    ...withHidden(before, hidden.toReversed()),
    mode: { slowModeMs, paused },
    pinned,
    interval: interval - RESPONSE_DELAY_INTERVALS,
  };
}

function withHidden(before: Moderation, ids: readonly string[]): Moderation {
  const added = ids.filter((id) => !before.hidden.includes(id));
  if (added.length === 0) return before;
  return { ...before, hidden: [...before.hidden, ...added].slice(-HIDDEN_MAX) };
}
