import { CHAT_NAME_CHARS } from '../../protocol/limits.ts';
import type { Stream, ViewCount } from '../../sdk/types.ts';
import type { ViewerQuiz, ViewerState } from '../../sdk/viewer.ts';
import { toSingleLine } from '../audience/compose-text.ts';

/** A message to the host page; each has `source: 'fourbeat'` besides. */
export type HostPageMessage =
  /** The page receives commands from now on. */
  | { readonly type: 'ready'; readonly streamId: string }
  | {
      readonly type: 'state';
      /** As in the SDK. */
      readonly state: ViewerState;
      /** Of the stream; null: not known yet. */
      readonly status: Stream['status'] | null;
      readonly isPlaying: boolean;
      readonly isMuted: boolean;
    }
  | ({ readonly type: 'count' } & ViewCount)
  /** The quiz on screen with this viewer's answer; null: none. */
  | { readonly type: 'quiz'; readonly quiz: ViewerQuiz | null; readonly remainingMs: number }
  /** An event of the feed, when it is on screen. */
  | {
      readonly type: 'event';
      readonly interval: number;
      readonly event: { readonly type: string; readonly data: unknown };
    };

/** A message from the host page. */
export type Command =
  | { readonly type: 'play' | 'pause' | 'mute' | 'unmute' }
  /** Sets the viewer's name in the chat. */
  | { readonly type: 'name'; readonly name: string };

/** @returns null when the data is not a command */
export function parseCommand(data: unknown): Command | null {
  if (typeof data !== 'object' || data === null) return null;
  const { type, name } = data as { type?: unknown; name?: unknown };
  switch (type) {
    case 'play':
    case 'pause':
    case 'mute':
    case 'unmute':
      return { type };
    case 'name':
      return typeof name === 'string'
        ? { type, name: [...toSingleLine(name)].slice(0, CHAT_NAME_CHARS).join('') }
        : null;
    default:
      return null;
  }
}
