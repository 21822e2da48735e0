import { useEffect } from 'react';

/** Keeps the screen from going dark by itself, where the browser lets a page do so. */
export function useAwake(): void {
  useEffect(() => {
    // A screen that was hidden meanwhile has to be asked for again.
    const ask = () => {
      if (document.visibilityState === 'visible') {
        navigator.wakeLock?.request('screen').catch(() => {});
      }
    };
    ask();
    document.addEventListener('visibilitychange', ask);
    return () => document.removeEventListener('visibilitychange', ask);
  }, []);
}
