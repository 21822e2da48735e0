import { type RefObject, useLayoutEffect } from 'react';

/**
 * Brings the keyboard to something that appears, so that its keys work: but never from where
 * somebody writes or has gone. When it disappears, the keyboard is where it was.
 */
export function useBorrowedFocus(place: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = place.current;
    const before = document.activeElement;
    const isFree = before === null || before === document.body;
    if (isFree) element?.focus({ preventScroll: true });
    return () => {
      const isHere = element?.contains(document.activeElement);
      if (isHere && before instanceof HTMLElement && before.isConnected) {
        before.focus({ preventScroll: true });
      }
    };
  }, [place]);
}
