import { type RefObject, useEffect, useState } from 'react';

/** Whether the keyboard is on something in that place, so that one has to see where. */
export function useKeyboardWithin(place: RefObject<HTMLElement | null>): boolean {
  const [isHere, setIsHere] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const comes = () => setIsHere(isByKeyboard(document));
    const leaves = ({ relatedTarget }: FocusEvent) => {
      if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) setIsHere(false);
    };
    element.addEventListener('focusin', comes);
    element.addEventListener('focusout', leaves);
    return () => {
      element.removeEventListener('focusin', comes);
      element.removeEventListener('focusout', leaves);
    };
  }, [place]);
  return isHere;
}

/** Browsers know it of what has the focus itself, which may be deep in an element of its own. */
function isByKeyboard({ activeElement }: DocumentOrShadowRoot): boolean {
  if (activeElement?.shadowRoot?.activeElement) return isByKeyboard(activeElement.shadowRoot);
  return activeElement?.matches(':focus-visible') ?? false;
}
