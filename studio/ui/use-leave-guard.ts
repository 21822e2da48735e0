import { useEffect, useRef } from 'react';

/**
 * Asks before the browser goes back or forward, or leaves the page. In a browser without the Navigation
 * API, and when the user presses Back again without an answer, the browser goes back.
 * @param isActive whether something would be lost
 * @param ask gets a function that goes where the user wanted to go. When the browser leaves the page, it
 *   asks itself instead
 */
export function useLeaveGuard(isActive: boolean, ask: (leave: () => void) => void): void {
  const latestAsk = useRef(ask);
  latestAsk.current = ask;
  useEffect(() => {
    if (!isActive) return;
    const guard = new AbortController();
    const { signal } = guard;
    addEventListener('beforeunload', (event) => event.preventDefault(), { signal });
    const onNavigate = (event: NavigateEvent) => {
      if (event.navigationType !== 'traverse' || !event.cancelable) return;
      event.preventDefault();
      latestAsk.current(() => {
        guard.abort();
        navigation.traverseTo(event.destination.key);
      });
    };
    globalThis.navigation?.addEventListener('navigate', onNavigate, { signal });
    return () => guard.abort();
  }, [isActive]);
}
