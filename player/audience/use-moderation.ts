import { useEffect, useState } from 'react';
import { intervalAt } from '../../protocol/interval.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { applyChatState, applyEvent, type Moderation } from './moderation.ts';
import { loadModeration, storeModeration } from './stored-moderation.ts';

/** The moderation state of the chat, from storage, the stream resource and the feed's events. */
export function useModeration(viewer: Viewer, { stream }: Snapshot): Moderation {
  const { streamId } = viewer;
  const [moderation, setModeration] = useState(() => loadModeration(streamId));
  useEffect(
    () => viewer.on('event', (event) => setModeration((before) => applyEvent(before, event))),
    [viewer],
  );
  // Not every response with the stream contains its chat state.
  const chat = stream?.chat;
  useEffect(() => {
    if (!chat) return;
    const interval = intervalAt(viewer.clock.nowMs());
    setModeration((before) => applyChatState(before, chat, interval));
  }, [viewer, chat]);
  useEffect(() => storeModeration(streamId, moderation), [streamId, moderation]);
  return moderation;
}
