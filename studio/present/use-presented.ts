import { useEffect, useSyncExternalStore } from 'react';
import type { Presented, PresentedShow } from './presented-show.ts';

const TICK_MS = 100;

/** What the wall shows, for as long as it is there. */
export function usePresented(show: PresentedShow): Presented {
  useEffect(() => {
    const stop = show.start();
    const timer = setInterval(() => show.tick(), TICK_MS);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [show]);
  return useSyncExternalStore(show.subscribe, () => show.presented);
}
