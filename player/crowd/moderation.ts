import type { ChatMode, EventsInterval, PinnedLine, StreamChat } from '../../sdk/types.ts';

/** How those who run the show keep its chat in order. */
export interface Moderation {
  readonly mode: ChatMode;
  /** The line above the chat; null: none. */
  readonly pinned: PinnedLine | null;
  /** Ids of lines that are not shown, the newest last. */
  readonly hidden: readonly string[];
  /** Until when it is how the chat goes: what was told before this interval says nothing of now. */
  readonly interval: number;
}

type Told = EventsInterval['events'][number] & { readonly interval: number };

/** More are in no list of lines. */
const HIDDEN_MAX = 1_000;
/** The service may have said how the chat goes so long before the page heard it. */
const ON_THE_WAY_INTERVALS = 20;

export const UNMODERATED: Moderation = {
  mode: { slowModeMs: 0, paused: false },
  pinned: null,
  hidden: [],
  interval: 0,
};

/**
 * An event is on screen. Who goes back in the picture sees old ones again: of those, what hides lines
 * goes on to do so, and the rest is past.
 * @returns the same when it changes nothing
 */
export function afterEvent(before: Moderation, { type, data, interval }: Told): Moderation {
  if (type === 'chat-hidden') return withHidden(before, (data as { ids: string[] }).ids);
  if (interval < before.interval) return before;
  if (type === 'chat-mode') return { ...before, mode: data as ChatMode, interval };
  if (type !== 'chat-pinned') return before;
  return { ...before, pinned: (data as { line: PinnedLine | null }).line, interval };
}

/** The service said how the chat goes. @param interval that is now */
export function afterLook(before: Moderation, chat: StreamChat, interval: number): Moderation {
  const { slow_mode_ms: slowModeMs, paused, pinned, hidden } = chat;
  return {
    ...withHidden(before, hidden.toReversed()),
    mode: { slowModeMs, paused },
    pinned,
    interval: interval - ON_THE_WAY_INTERVALS,
  };
}

function withHidden(before: Moderation, ids: readonly string[]): Moderation {
  const added = ids.filter((id) => !before.hidden.includes(id));
  if (added.length === 0) return before;
  return { ...before, hidden: [...before.hidden, ...added].slice(-HIDDEN_MAX) };
}
