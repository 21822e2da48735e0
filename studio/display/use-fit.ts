import { type RefObject, useLayoutEffect } from 'react';

const SCALE_MIN = 0.2;
const BISECTION_STEPS = 7;

/**
 * Sets `--fit` of an element to the largest scale at which its content fits, so that a question of
 * 500 letters with ten answers is visible in full.
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
  const tryScale = (scale: number) => {
    element.style.setProperty('--fit', String(scale));
    return element.scrollHeight <= element.clientHeight + 1;
  };
  if (tryScale(maxScale)) return;
  let min = SCALE_MIN;
  let max = maxScale;
  for (let step = 0; step < BISECTION_STEPS; step++) {
    const middle = (min + max) / 2;
    if (tryScale(middle)) min = middle;
    else max = middle;
  }
  tryScale(min);
}
