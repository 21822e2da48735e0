import { type RefObject, useLayoutEffect, useState } from 'react';

/**
 * Whether an overlay is collapsed because it would cover the focused text field. It stays collapsed
 * until the focus leaves the compose form; focus in the overlay itself changes nothing.
 * @returns whether the overlay is collapsed, and a function that expands it
 */
export function useCollapseWhileTyping(ref: RefObject<HTMLElement | null>) {
  const [isCollapsed, setIsCollapsed] = useState(false);
  useLayoutEffect(() => {
    const update = (focused: EventTarget | null) => {
      const overlay = ref.current;
      if (!(focused instanceof Element) || !overlay) return setIsCollapsed(false);
      const isCovered = focused.matches('.field') && overlaps(overlay, focused);
      const keepsState = focused.closest('.compose') !== null || overlay.contains(focused);
      setIsCollapsed((before) => isCovered || (before && keepsState));
    };
    const onFocusIn = ({ target }: FocusEvent) => update(target);
    const onFocusOut = ({ relatedTarget }: FocusEvent) => update(relatedTarget);
    update(document.activeElement);
    document.addEventListener('focusin', onFocusIn);
    document.addEventListener('focusout', onFocusOut);
    return () => {
      document.removeEventListener('focusin', onFocusIn);
      document.removeEventListener('focusout', onFocusOut);
    };
  }, [ref]);
  return [isCollapsed, () => setIsCollapsed(false)] as const;
}

function overlaps(first: Element, second: Element): boolean {
  const [a, b] = [first.getBoundingClientRect(), second.getBoundingClientRect()];
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
