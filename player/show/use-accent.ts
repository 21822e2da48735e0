import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { showColors } from './show-color.ts';

const DARK = '(prefers-color-scheme: dark)';

/** Makes the show's color the accent of the page. @param color such as `#2f6fed`; null: the page's own */
export function useAccent(color: string | null): void {
  const isDark = useSyncExternalStore(
    (onChange) => {
      const query = matchMedia(DARK);
      query.addEventListener('change', onChange);
      return () => query.removeEventListener('change', onChange);
    },
    () => matchMedia(DARK).matches,
  );
  const colors = useMemo(
    () => (color === null ? null : showColors(color, isDark ? 'dark' : 'light')),
    [color, isDark],
  );
  useEffect(() => {
    if (!colors) return;
    const { style } = document.documentElement;
    for (const [name, value] of Object.entries(colors)) style.setProperty(name, value);
    return () => {
      for (const name of Object.keys(colors)) style.removeProperty(name);
    };
  }, [colors]);
}
