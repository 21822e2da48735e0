import { useEffect, useState } from 'react';
import { intervalAt } from '../../protocol/interval.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { keepModeration, keptModeration } from './kept-moderation.ts';
import { afterEvent, afterLook, type Moderation } from './moderation.ts';

/** How the chat goes, by what the service told when the viewer came, and by its events. */
export function useModeration(viewer: Viewer, { stream }: Snapshot): Moderation {
  const { streamId } = viewer;
  const [moderation, setModeration] = useState(() => keptModeration(streamId));
  useEffect(
    () => viewer.on('event', (told) => setModeration((before) => afterEvent(before, told))),
    [viewer],
  );
  // Not every look at the stream is told of it.
  const chat = stream?.chat;
  useEffect(() => {
    if (!chat) return;
    const interval = intervalAt(viewer.clock.nowMs());
    setModeration((before) => afterLook(before, chat, interval));
  }, [viewer, chat]);
  useEffect(() => keepModeration(streamId, moderation), [streamId, moderation]);
  return moderation;
}
