import { type RefObject, useLayoutEffect } from 'react';

const SCALE_MIN = 0.2;
/** At a smaller scale an audience could not read the rest, so that long words break instead. */
const WHOLE_WORDS_SCALE_MIN = 0.6;
/** The part of its scale that a dense scene, which is smaller anyway, has left for whole words. */
const WHOLE_WORDS_SHARE = 0.75;
const BISECTION_STEPS = 7;

/**
 * Sets `--fit` of an element to the largest scale at which its content fits, so that a question of
 * 500 letters with ten answers is visible in full. Words stay in one piece if they fit on a line at a
 * readable scale.
 * @param max scale when there is enough room
 */
export function useFit(container: RefObject<HTMLElement | null>, max: number): void {
  useLayoutEffect(() => {
    const element = container.current;
    if (!element) return;
    const fit = () => fitInto(element, max);
    fit();
    const resized = new ResizeObserver(fit);
    resized.observe(document.documentElement);
    // Observes text, which changes once a second, but not styles: a growing bar needs no more room.
    const changed = new MutationObserver(fit);
    changed.observe(element, { childList: true, characterData: true, subtree: true });
    return () => {
      resized.disconnect();
      changed.disconnect();
    };
  }, [container, max]);
}

function fitInto(element: HTMLElement, maxScale: number): void {
  const fitsInHeight = () => element.scrollHeight <= element.clientHeight + 1;
  element.style.overflowWrap = 'anywhere';
  const broken =
    largestScale(element, { min: SCALE_MIN, max: maxScale }, fitsInHeight) ?? SCALE_MIN;
  element.style.overflowWrap = 'normal';
  const min = Math.min(WHOLE_WORDS_SCALE_MIN, broken * WHOLE_WORDS_SHARE);
  const fits = () => fitsInHeight() && fitsInWidth(element);
  const whole = largestScale(element, { min, max: broken }, fits);
  if (whole === null) element.style.overflowWrap = 'anywhere';
  setScale(element, whole ?? broken);
}

/** Whether no word is longer than its line. */
function fitsInWidth(element: HTMLElement): boolean {
  return [element, ...element.querySelectorAll(':not(.unseen)')].every(
    ({ scrollWidth, clientWidth }) => clientWidth === 0 || scrollWidth <= clientWidth + 1,
  );
}

/** @returns the largest scale of the range at which the content fits, in seven steps; null: none */
function largestScale(
  element: HTMLElement,
  range: { readonly min: number; readonly max: number },
  fits: () => boolean,
): number | null {
  const fitsAt = (scale: number) => {
    setScale(element, scale);
    return fits();
  };
  let { min, max } = range;
  if (fitsAt(max)) return max;
  if (!fitsAt(min)) return null;
  for (let step = 0; step < BISECTION_STEPS; step++) {
    const middle = (min + max) / 2;
    if (fitsAt(middle)) min = middle;
    else max = middle;
  }
  return min;
}

function setScale(element: HTMLElement, scale: number): void {
  element.style.setProperty('--fit', String(scale));
}
