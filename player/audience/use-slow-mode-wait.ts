import { useCallback, useEffect, useState } from 'react';

const SECOND_MS = 1_000;

export interface SlowModeWait {
  /** Whole seconds until the viewer may write again; 0: now. */
  readonly seconds: number;
  /** Starts the wait anew. @param ms 0: ends it */
  wait(ms: number): void;
}

/** Counts down until the viewer may write again. */
export function useSlowModeWait(): SlowModeWait {
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
