import { useCallback, useEffect, useState } from 'react';

const SECOND_MS = 1_000;

/**
 * Counts down until the viewer may write again.
 * @returns whole seconds, 0: now; and a function that starts the wait anew, for 0 ms: ends it
 */
export function useSlowModeWait() {
  const [untilMs, setUntilMs] = useState(0);
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const update = () =>
      setSeconds(Math.max(0, Math.ceil((untilMs - performance.now()) / SECOND_MS)));
    update();
    if (untilMs <= performance.now()) return;
    const timer = setInterval(() => {
      update();
      if (untilMs <= performance.now()) clearInterval(timer);
    }, SECOND_MS / 4);
    return () => clearInterval(timer);
  }, [untilMs]);
  const wait = useCallback((ms: number) => setUntilMs(performance.now() + ms), []);
  return { seconds, wait };
}
