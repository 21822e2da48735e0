import { useEffect, useState } from 'react';

/** Whoever presses twice means it once: what comes next cannot be pressed at once. */
const ARMED_AFTER_MS = 1_000;

/** Whether a button has been the same for a while. @param name what it does now */
export function useArmed(name: string): boolean {
  const [armed, setArmed] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setArmed(name), ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return armed === name;
}
