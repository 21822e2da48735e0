import { useEffect, useRef } from 'react';
import { OPEN_DIALOG } from './shortcuts.ts';

/** Calls back on Ctrl+Enter, unless a dialog is open. */
export function useCtrlEnter(onPress: () => void): void {
  const latest = useRef(onPress);
  latest.current = onPress;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      if (document.querySelector(OPEN_DIALOG)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
