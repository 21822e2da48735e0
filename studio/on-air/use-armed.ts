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

/** A button that does each thing once, however long it takes until the state tells of it. */
export function useOnce(name: string) {
  const isArmed = useArmed(name);
  const [spent, setSpent] = useState<string | null>(null);
  return {
    canPress: isArmed && spent !== name,
    /** It is pressed: not again, until it does something else. */
    spend: () => setSpent(name),
    /** It did not work. */
    giveBack: () => setSpent(null),
  };
}
