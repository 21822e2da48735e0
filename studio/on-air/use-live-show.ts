import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { beQuiet } from '../api/quiet.ts';
import { liveBrowser } from './live-browser.ts';
import { LiveShow, type LiveSnapshot } from './live-show.ts';

/** A show as it goes, for as long as the page is open. */
export function useLiveShow(streamId: string): LiveSnapshot {
  const show = useMemo(() => new LiveShow(liveBrowser(streamId)), [streamId]);
  const queries = useQueryClient();
  useEffect(() => show.start(), [show]);
  const live = useSyncExternalStore(show.subscribe, () => show.snapshot);
  const isLost = live.state !== null && !live.isHeard;
  useEffect(() => (isLost ? beQuiet(queries) : undefined), [isLost, queries]);
  return live;
}
