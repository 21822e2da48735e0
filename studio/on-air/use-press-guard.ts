import { useEffect, useState } from 'react';

/** A button whose action changed ignores presses for this long: a double click triggers once. */
const SETTLE_MS = 1_000;

/** Whether a button has had the same action for a while. @param actionKey identifies the action */
export function useIsSettled(actionKey: string): boolean {
  const [settledKey, setSettledKey] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettledKey(actionKey), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [actionKey]);
  return settledKey === actionKey;
}

/**
 * Guards a button against repeated presses: one press for each action, until the state shows its
 * result.
 * @param actionKey identifies the action
 */
export function usePressGuard(actionKey: string) {
  const isSettled = useIsSettled(actionKey);
  const [pressedKey, setPressedKey] = useState<string | null>(null);
  // The action may come back: a restored database, or one that lost its last commits, has no result.
  if (pressedKey !== null && pressedKey !== actionKey) setPressedKey(null);
  return {
    canPress: isSettled && pressedKey !== actionKey,
    /** Blocks further presses until the action changes. */
    markPressed: () => setPressedKey(actionKey),
    /** Allows another press after a failure. */
    resetPress: () => setPressedKey(null),
  };
}
