import { type RefObject, useLayoutEffect } from 'react';

const QUIETLY = { preventScroll: true };

/**
 * Brings the keyboard to something that appears, so that its keys work: but never from where
 * somebody writes or has gone. When it disappears, the keyboard is where it was.
 * @param content what is in it: with another, what the keyboard was on may be gone
 */
export function useBorrowedFocus(place: RefObject<HTMLElement | null>, content?: unknown): void {
  useLayoutEffect(() => {
    const element = place.current;
    const before = document.activeElement;
    return () => {
      const isHere = element?.contains(document.activeElement);
      if (isHere && before instanceof HTMLElement && before.isConnected) before.focus(QUIETLY);
    };
  }, [place]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: it looks again when the content is another
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body) place.current?.focus(QUIETLY);
  }, [place, content]);
}
