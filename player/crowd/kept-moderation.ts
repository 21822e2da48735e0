import { pageStorage, type Storage } from '../../sdk/environment.ts';
import { type Moderation, UNMODERATED } from './moderation.ts';

// Of one stream, the last: who comes back to another after a while is told by the service.
const KEY = 'fourbeat-chat';

/**
 * How the chat of a stream went when this browser saw it last. After a reload the feed goes on where
 * it was, and says nothing of what was before.
 */
export function keptModeration(
  streamId: string,
  storage: Storage | null = pageStorage(),
): Moderation {
  try {
    const kept = JSON.parse(storage?.getItem(KEY) ?? 'null');
    return kept?.streamId === streamId ? { ...UNMODERATED, ...kept.moderation } : UNMODERATED;
  } catch {
    return UNMODERATED;
  }
}

export function keepModeration(
  streamId: string,
  moderation: Moderation,
  storage: Storage | null = pageStorage(),
): void {
  try {
    storage?.setItem(KEY, JSON.stringify({ streamId, moderation }));
  } catch {
    // There is no room: a reload knows less.
  }
}
