import { useEffect, useRef, useState } from 'react';
import { connectionEnvironment } from '../../connection/connection-environment.ts';
import { useExternalStore } from '../../ui/external-store.ts';
import { DelayedHides } from './delayed-hides.ts';

/**
 * Hides messages after a delay, in which the host can undo it; at once when the page closes.
 * @param send hides a message
 */
export function useDelayedHides(send: (id: string) => void) {
  const latestSend = useRef(send);
  latestSend.current = send;
  const [hides] = useState(
    () =>
      new DelayedHides({
        send: (id) => latestSend.current(id),
        after: connectionEnvironment.after,
        monotonicMs: () => performance.now(),
      }),
  );
  useEffect(() => {
    const flush = () => hides.flush();
    addEventListener('pagehide', flush);
    return () => {
      removeEventListener('pagehide', flush);
      flush();
    };
  }, [hides]);
  return { hides, hiding: useExternalStore(hides) };
}
