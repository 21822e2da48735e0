import { useCallback, useEffect, useState } from 'react';

const SECOND_MS = 1_000;

/** When a viewer may write again. */
export interface Turn {
  /** How long not, whole seconds; 0: now. */
  readonly seconds: number;
  /** @param ms not before so long */
  wait(ms: number): void;
}

/** Counts down until the viewer may write again. */
export function useTurn(): Turn {
  const [untilMs, setUntilMs] = useState(0);
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const tick = () =>
      setSeconds(Math.max(0, Math.ceil((untilMs - performance.now()) / SECOND_MS)));
    tick();
    if (untilMs <= performance.now()) return;
    const timer = setInterval(() => {
      tick();
      if (untilMs <= performance.now()) clearInterval(timer);
    }, SECOND_MS / 4);
    return () => clearInterval(timer);
  }, [untilMs]);
  const wait = useCallback((ms: number) => setUntilMs(performance.now() + ms), []);
  return { seconds, wait };
}
