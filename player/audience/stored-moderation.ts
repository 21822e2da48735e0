import { pageStorage } from '../../sdk/environment.ts';
import { type Moderation, UNMODERATED } from './moderation.ts';

// Holds the last stream only. A viewer who returns to another one gets its state from the service.
const KEY = 'fourbeat-chat';

/**
 * The moderation state that this browser saw last for a stream. After a reload the feed resumes
 * where it was and does not repeat earlier events.
 */
export function loadModeration(streamId: string, storage = pageStorage()): Moderation {
  try {
    const stored = JSON.parse(storage?.getItem(KEY) ?? 'null');
    return stored?.streamId === streamId ? { ...UNMODERATED, ...stored.moderation } : UNMODERATED;
  } catch {
    return UNMODERATED;
  }
}

export function storeModeration(streamId: string, moderation: Moderation, storage = pageStorage()) {
  try {
    storage?.setItem(KEY, JSON.stringify({ streamId, moderation }));
  } catch {
    // The storage is full: a reload starts without this state.
  }
}
