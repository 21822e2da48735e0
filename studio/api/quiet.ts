import { onlineManager, type QueryClient } from '@tanstack/react-query';

/**
 * Has the page read nothing for a while, and give up what it waits for. Over HTTP/1.1 a browser has six
 * connections to a service, for all of its tabs: what waits in them for answers that do not come would
 * keep a line that was lost from being opened again.
 * @returns what ends it: then all is read again
 */
export function beQuiet(queries: QueryClient): () => void {
  onlineManager.setOnline(false);
  void queries.cancelQueries();
  return () => onlineManager.setOnline(true);
}

/** @returns what ends the telling */
export function whenQuiet(tell: (isQuiet: boolean) => void): () => void {
  return onlineManager.subscribe((isOnline) => tell(!isOnline));
}
