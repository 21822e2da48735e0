import { useEffect, useState } from 'react';

/**
 * Whether the stage fills the window, where the browser lets no page have the whole screen, and what
 * changes that. Escape ends it.
 */
export function useFilledWindow(): [boolean, (isFilled: boolean) => void] {
  const [isFilled, setIsFilled] = useState(false);
  useEffect(() => {
    if (!isFilled) return;
    const leave = ({ key, defaultPrevented }: KeyboardEvent) => {
      // What lies over the picture, and menus, are closed first.
      if (key === 'Escape' && !defaultPrevented) setIsFilled(false);
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  }, [isFilled]);
  return [isFilled, setIsFilled];
}
