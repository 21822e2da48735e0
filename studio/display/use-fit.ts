import { type RefObject, useLayoutEffect } from 'react';

const SCALE_MIN = 0.2;
/** At a smaller scale an audience could not read the rest, so that long words break instead. */
const WHOLE_WORDS_SCALE_MIN = 0.5;
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
    // Characters have other widths in the typeface than in its substitute.
    document.fonts.addEventListener('loadingdone', fit);
    return () => {
      document.fonts.removeEventListener('loadingdone', fit);
      resized.disconnect();
      changed.disconnect();
    };
  }, [container, max]);
}

function fitInto(element: HTMLElement, maxScale: number): void {
  const texts = [...element.querySelectorAll<HTMLElement>(':not(.unseen)')].filter(hasText);
  const breakWords = (broken: readonly HTMLElement[]) => {
    for (const text of texts) text.style.overflowWrap = broken.includes(text) ? 'anywhere' : '';
  };
  const fitsInHeight = () => element.scrollHeight <= element.clientHeight + 1;
  const fits = () => fitsInHeight() && texts.every(fitsInWidth) && fitsInWidth(element);
  breakWords(texts);
  const broken =
    largestScale(element, { min: SCALE_MIN, max: maxScale }, fitsInHeight) ?? SCALE_MIN;
  breakWords([]);
  const min = Math.min(WHOLE_WORDS_SCALE_MIN, broken * WHOLE_WORDS_SHARE);
  setScale(element, min);
  // Only texts with a word that is longer than its line break words.
  breakWords(texts.filter((text) => !fitsInWidth(text)));
  const whole = largestScale(element, { min, max: broken }, fits);
  if (whole === null) breakWords(texts);
  setScale(element, whole ?? broken);
}

const hasText = ({ childNodes }: Element): boolean =>
  [...childNodes].some(({ nodeType }) => nodeType === Node.TEXT_NODE);

/** Whether no word in the element is longer than its line. */
function fitsInWidth({ scrollWidth, clientWidth }: Element): boolean {
  // An inline element has no width.
  return clientWidth === 0 || scrollWidth <= clientWidth + 1;
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
