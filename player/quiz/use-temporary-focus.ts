import { type RefObject, useLayoutEffect } from 'react';

const WITHOUT_SCROLLING = { preventScroll: true };

/**
 * Focuses an element that appears, so that its keys work, unless something else has the focus.
 * Returns the focus when the element disappears, but not to a text field of a phone: its keyboard
 * would open over the page.
 * @param content changes when the focused part of the element may be gone
 */
export function useTemporaryFocus(ref: RefObject<HTMLElement | null>, content?: unknown): void {
  useLayoutEffect(() => {
    const element = ref.current;
    const previous = document.activeElement;
    return () => {
      const hasFocus = element?.contains(document.activeElement);
      if (hasFocus && previous instanceof HTMLElement && !opensKeyboard(previous)) {
        previous.focus(WITHOUT_SCROLLING);
      }
    };
  }, [ref]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs again when the content changes
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body) ref.current?.focus(WITHOUT_SCROLLING);
  }, [ref, content]);
}

/** Whether the focus opens an on-screen keyboard. */
function opensKeyboard(element: HTMLElement): boolean {
  return element.matches('input, textarea') && matchMedia('(pointer: coarse)').matches;
}
