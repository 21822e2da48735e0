import { onlineManager, type QueryClient } from '@tanstack/react-query';

/**
 * Pauses all queries and cancels those in flight. Over HTTP/1.1 a browser has six connections per
 * origin, shared by all tabs: hanging requests would delay the reconnection of an event stream.
 * @returns resumes queries and refetches
 */
export function pauseRequests(queries: QueryClient): () => void {
  onlineManager.setOnline(false);
  void queries.cancelQueries();
  return () => onlineManager.setOnline(true);
}

/** Reports each pause and resumption. @returns unsubscribes */
export function onRequestsPaused(listener: (isPaused: boolean) => void): () => void {
  return onlineManager.subscribe((isOnline) => listener(!isOnline));
}
