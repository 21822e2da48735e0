import { useCallback, useEffect, useState } from 'react';

const SECOND_MS = 1_000;

/**
 * Counts down until the viewer may write again.
 * @returns whole seconds to wait; and a function that starts the wait anew, or ends it with 0 ms
 */
export function useSlowModeWait() {
  const [untilMs, setUntilMs] = useState(0);
  const [waitS, setWaitS] = useState(0);
  useEffect(() => {
    const update = () =>
      setWaitS(Math.max(0, Math.ceil((untilMs - performance.now()) / SECOND_MS)));
    update();
    if (untilMs <= performance.now()) return;
    const timer = setInterval(() => {
      update();
      if (untilMs <= performance.now()) clearInterval(timer);
    }, SECOND_MS / 4);
    return () => clearInterval(timer);
  }, [untilMs]);
  const startWait = useCallback((ms: number) => setUntilMs(performance.now() + ms), []);
  return { waitS, startWait };
}
