import { type MouseEvent, type RefObject, useLayoutEffect, useState } from 'react';

interface AboveCompose {
  /** Whether the overlay must leave the compose form visible. */
  readonly isAbove: boolean;
  /** Keeps the focus in the text field, so that the keyboard stays and nothing moves under a finger. */
  onMouseDown(event: MouseEvent): void;
}

/**
 * Whether an overlay stands above the compose form, because it would cover its text field, which has
 * the focus. Its variable `--compose-height` is then the height of the form. It stays there until the
 * focus leaves both the form and the overlay.
 */
export function useAboveCompose(ref: RefObject<HTMLElement | null>): AboveCompose {
  const [isAbove, setIsAbove] = useState(false);
  useLayoutEffect(() => {
    const update = (focused: EventTarget | null) => {
      const overlay = ref.current;
      if (!(focused instanceof Element) || !overlay) return setIsAbove(false);
      const form = focused.closest('.compose');
      const isTyping = form !== null && focused.matches('.field') && isBelow(form, overlay);
      const keepsState = form !== null || overlay.contains(focused);
      setIsAbove((before) => isTyping || (before && keepsState));
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
  useComposeHeight(ref, isAbove);
  return { isAbove, onMouseDown: (event) => isAbove && event.preventDefault() };
}

/** Sets `--compose-height` of the overlay while `isAbove`. */
function useComposeHeight(ref: RefObject<HTMLElement | null>, isAbove: boolean): void {
  useLayoutEffect(() => {
    const form = document.querySelector<HTMLElement>('.compose');
    if (!isAbove || !form) return;
    const update = () =>
      ref.current?.style.setProperty('--compose-height', `${form.offsetHeight}px`);
    update();
    const resized = new ResizeObserver(update);
    resized.observe(form);
    return () => resized.disconnect();
  }, [ref, isAbove]);
}

/** Whether the form is below the overlay, as on phones, not beside it. */
function isBelow(form: Element, overlay: Element): boolean {
  const [a, b] = [form.getBoundingClientRect(), overlay.getBoundingClientRect()];
  return a.left < b.right && b.left < a.right;
}
