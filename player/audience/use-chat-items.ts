import { useCallback, useRef, useState, useSyncExternalStore } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { type ChatItem, newTimeline, timelineItems, updateTimeline } from './chat-items.ts';

/** The items of the chat, oldest first. A jump in the video starts a new timeline. */
export function useChatItems(viewer: Viewer, snapshot: Snapshot): readonly ChatItem[] {
  const jumps = useJumpCount(viewer);
  const [state, setState] = useState(() => ({ timeline: newTimeline(snapshot), jumps }));
  const timeline =
    state.jumps === jumps ? updateTimeline(state.timeline, snapshot) : newTimeline(snapshot);
  if (timeline !== state.timeline) setState({ timeline, jumps });
  return timelineItems(timeline);
}

function useJumpCount(viewer: Viewer): number {
  const jumps = useRef(0);
  const subscribe = useCallback(
    (onChange: () => void) =>
      viewer.on('jump', () => {
        jumps.current += 1;
        onChange();
      }),
    [viewer],
  );
  return useSyncExternalStore(subscribe, () => jumps.current);
}
