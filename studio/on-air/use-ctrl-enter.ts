import { useEffect, useRef } from 'react';
import { OPEN_DIALOG } from './open-dialog.ts';

/** Calls back when Ctrl and Enter are pressed, wherever the focus is but in a dialog. */
export function useCtrlEnter(onPress: () => void): void {
  const latest = useRef(onPress);
  latest.current = onPress;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      if (document.querySelector(OPEN_DIALOG)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
