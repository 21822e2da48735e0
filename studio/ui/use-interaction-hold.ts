import { type FocusEvent, type PointerEvent, useState } from 'react';

/** A mouse wheel does not always return to exactly 0. */
const SCROLL_TOLERANCE_PX = 4;

/**
 * Whether the user is interacting with a part of the page that updates itself: it is scrolled,
 * hovered by a mouse, or has the keyboard focus. Its content must not move then.
 */
export function useInteractionHold() {
  const [isScrolled, setScrolled] = useState(false);
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  return {
    isHeld: isScrolled || isHovered || isFocused,
    /** Ends a hold that is due to the mouse. */
    release: () => setHovered(false),
    /** Props of the element around that part. */
    listeners: {
      // Scroll events do not bubble, so capture them.
      onScrollCapture: ({ target }: { readonly target: EventTarget }) =>
        setScrolled(target instanceof Element && target.scrollTop > SCROLL_TOLERANCE_PX),
      onPointerEnter: ({ pointerType }: PointerEvent) => setHovered(pointerType === 'mouse'),
      onPointerLeave: () => setHovered(false),
      // A pressed element keeps the focus after a mouse or touch press, so only visible focus
      // counts. Focus outside of the element is in one of its menus, which must stay while open.
      onFocus: ({ currentTarget, target }: FocusEvent<HTMLElement>) =>
        setFocused(!currentTarget.contains(target) || target.matches(':focus-visible')),
      onBlur: () => setFocused(false),
    },
  };
}
