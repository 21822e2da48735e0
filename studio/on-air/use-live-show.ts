import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { liveBrowser } from './live-browser.ts';
import { LiveShow, type LiveSnapshot } from './live-show.ts';

/** A show as it goes, for as long as the page is open. */
export function useLiveShow(streamId: string): LiveSnapshot {
  const show = useMemo(() => new LiveShow(liveBrowser(streamId)), [streamId]);
  useEffect(() => show.start(), [show]);
  return useSyncExternalStore(show.subscribe, () => show.snapshot);
}
