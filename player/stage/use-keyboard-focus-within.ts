import { type RefObject, useEffect, useState } from 'react';

/** Whether an element contains the focus and the browser shows it (`:focus-visible`). */
export function useKeyboardFocusWithin(ref: RefObject<HTMLElement | null>): boolean {
  const [isWithin, setIsWithin] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const onFocusIn = () => setIsWithin(isFocusVisible(document));
    const onFocusOut = ({ relatedTarget }: FocusEvent) => {
      if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) setIsWithin(false);
    };
    element.addEventListener('focusin', onFocusIn);
    element.addEventListener('focusout', onFocusOut);
    return () => {
      element.removeEventListener('focusin', onFocusIn);
      element.removeEventListener('focusout', onFocusOut);
    };
  }, [ref]);
  return isWithin;
}

/** `:focus-visible` matches only the focused element itself, which may be in a shadow root. */
function isFocusVisible({ activeElement }: DocumentOrShadowRoot): boolean {
  if (activeElement?.shadowRoot?.activeElement) return isFocusVisible(activeElement.shadowRoot);
  return activeElement?.matches(':focus-visible') ?? false;
}
