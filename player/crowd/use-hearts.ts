import { useCallback, useState, useSyncExternalStore } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { SeenAgain } from './seen-again.ts';

/** How many hearts were sent since the viewer came, each of them once. */
export function useHearts(viewer: Viewer, { hearts }: Pick<Snapshot, 'hearts'>): number {
  const [seen] = useState(() => new SeenAgain());
  const subscribe = useCallback(
    (changed: () => void) =>
      viewer.on('interval', (interval) => {
        seen.take(interval);
        changed();
      }),
    [viewer, seen],
  );
  return hearts - useSyncExternalStore(subscribe, () => seen.hearts);
}
