import { useEffect, useRef, useState } from 'react';
import { connectionEnvironment } from '../../connection/connection-environment.ts';
import { useExternalStore } from '../../ui/external-store.ts';
import { DelayedHides, type DelayedHidesEnvironment } from './delayed-hides.ts';

/**
 * Hides messages after a delay, in which the host can undo it; at once when the page closes.
 * @param senders hide messages
 */
export function useDelayedHides(senders: Pick<DelayedHidesEnvironment, 'send' | 'sendAtClose'>) {
  const latest = useRef(senders);
  latest.current = senders;
  const [hides] = useState(
    () =>
      new DelayedHides({
        send: (id) => latest.current.send(id),
        sendAtClose: (ids) => latest.current.sendAtClose(ids),
        after: connectionEnvironment.after,
        monotonicMs: () => performance.now(),
      }),
  );
  useEffect(() => {
    const flush = () => hides.flush();
    // A browser waits half a second for `pagehide` and longer for `beforeunload`: with a processor 20
    // to 60 times as slow, two of three pages sent nothing by the first alone, none failed by both.
    addEventListener('beforeunload', flush);
    addEventListener('pagehide', flush);
    return () => {
      removeEventListener('beforeunload', flush);
      removeEventListener('pagehide', flush);
      flush();
    };
  }, [hides]);
  return { hides, hiding: useExternalStore(hides) };
}
