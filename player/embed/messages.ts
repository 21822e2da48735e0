import { CHAT_NAME_CHARS } from '../../protocol/limits.ts';
import type { Stream, ViewCount } from '../../sdk/types.ts';
import type { ViewerQuiz, ViewerState } from '../../sdk/viewer.ts';
import { cleaned } from '../crowd/compose-words.ts';

/** What the page tells the page it is in; each has `source: 'fourbeat'` besides. */
export type Told =
  /** It hears what it is told from now on. */
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
  /** The quiz on screen, and what the viewer did with it; null: there is none. */
  | { readonly type: 'quiz'; readonly quiz: ViewerQuiz | null; readonly remainingMs: number }
  /** Every event of the feed, when it is on screen. */
  | {
      readonly type: 'event';
      readonly interval: number;
      readonly event: { readonly type: string; readonly data: unknown };
    };

/** What the page is told by the page it is in. */
export type Command =
  | { readonly type: 'play' | 'pause' | 'mute' | 'unmute' }
  /** What the viewer is called in the chat. */
  | { readonly type: 'name'; readonly name: string };

/** @returns null for what is no command */
export function commandOf(data: unknown): Command | null {
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
        ? { type, name: [...cleaned(name)].slice(0, CHAT_NAME_CHARS).join('') }
        : null;
    default:
      return null;
  }
}
