import { useCallback, useRef, useState, useSyncExternalStore } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { type ChatItem, itemsOf, newRecord, nextRecord } from './chat-items.ts';

/** What the chat shows, oldest first. Where the picture is elsewhere it begins anew. */
export function useChatItems(viewer: Viewer, snapshot: Snapshot): readonly ChatItem[] {
  const jumps = useJumps(viewer);
  const [known, setKnown] = useState(() => ({ record: newRecord(snapshot), jumps }));
  const record = known.jumps === jumps ? nextRecord(known.record, snapshot) : newRecord(snapshot);
  if (record !== known.record) setKnown({ record, jumps });
  return itemsOf(record);
}

/** How often the picture went elsewhere. */
function useJumps(viewer: Viewer): number {
  const jumps = useRef(0);
  const subscribe = useCallback(
    (changed: () => void) =>
      viewer.on('jump', () => {
        jumps.current += 1;
        changed();
      }),
    [viewer],
  );
  return useSyncExternalStore(subscribe, () => jumps.current);
}
