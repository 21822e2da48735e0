import type { ChatElement, ChatKind } from '../../../protocol/feed.ts';
import type { TransientSource } from '../../realtime/feed/transient-source.ts';

/**
 * What viewers post, from one sealing to the next. It is transient: a crash may lose what is not
 * sealed (C-11). However much is posted, a stream takes a bounded amount of memory.
 */
export interface ChatSource extends TransientSource {
  /** Adds a viewer's line to the interval being filled; of many, a fair sample is kept (C-8). */
  say(streamId: string, kind: ChatKind, element: ChatElement): void;

  /** Adds hearts to the interval being filled; each one counts (C-9). */
  hearts(streamId: string, count: number): void;
}
