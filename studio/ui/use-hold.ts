import { type FocusEvent, type PointerEvent, useState } from 'react';

/** The wheel of a mouse is not always back at nought. */
const TOP_PX = 4;

/**
 * Whether somebody is at something in a part of the page that changes by itself: it is scrolled,
 * pointed at by a mouse, or gone through by keyboard. What they are at must not move away under them.
 */
export function useHold() {
  const [isScrolled, setScrolled] = useState(false);
  const [isPointedAt, setPointedAt] = useState(false);
  const [isFocused, setFocused] = useState(false);
  return {
    isHeld: isScrolled || isPointedAt || isFocused,
    /** Whoever points at it now wants to see it change. */
    letGo: () => setPointedAt(false),
    /** For the element around that part. */
    listeners: {
      // Scrolling is told to the element alone that is scrolled.
      onScrollCapture: ({ target }: { readonly target: EventTarget }) =>
        setScrolled(target instanceof Element && target.scrollTop > TOP_PX),
      onPointerEnter: ({ pointerType }: PointerEvent) => setPointedAt(pointerType === 'mouse'),
      onPointerLeave: () => setPointedAt(false),
      // What was pressed by mouse or finger has the focus, too, long after they are gone. What is not
      // in it is a menu of it, which must not go while it is open.
      onFocus: ({ currentTarget, target }: FocusEvent<HTMLElement>) =>
        setFocused(!currentTarget.contains(target) || target.matches(':focus-visible')),
      onBlur: () => setFocused(false),
    },
  };
}
