import { type RefObject, useLayoutEffect } from 'react';

const LEAST = 0.2;
const STEPS = 7;

/**
 * Sets `--fit` of an element to the largest share at which what is in it has room: a question of 500
 * letters with ten answers is to be read whole, too.
 * @param most what it is when there is plenty of room
 */
export function useFit(place: RefObject<HTMLElement | null>, most: number): void {
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const fit = () => fitInto(element, most);
    fit();
    const resized = new ResizeObserver(fit);
    resized.observe(document.documentElement);
    // Texts alone, which change once a second: a bar that grows needs no more room.
    const changed = new MutationObserver(fit);
    changed.observe(element, { childList: true, characterData: true, subtree: true });
    return () => {
      resized.disconnect();
      changed.disconnect();
    };
  }, [place, most]);
}

function fitInto(element: HTMLElement, largest: number): void {
  const fits = (share: number) => {
    element.style.setProperty('--fit', String(share));
    return element.scrollHeight <= element.clientHeight + 1;
  };
  if (fits(largest)) return;
  let least = LEAST;
  let most = largest;
  for (let step = 0; step < STEPS; step++) {
    const middle = (least + most) / 2;
    if (fits(middle)) least = middle;
    else most = middle;
  }
  fits(least);
}
