import { type RefObject, useLayoutEffect, useState } from 'react';

const WRITING = '.compose';
const BOX = '.field';

/**
 * Whether something makes way for who writes: from when it would cover the box, until they are
 * done there. Who goes from there to the thing itself finds it where it was.
 * @returns that, and what ends it
 */
export function useMakingWay(place: RefObject<HTMLElement | null>): [boolean, () => void] {
  const [isMakingWay, setIsMakingWay] = useState(false);
  useLayoutEffect(() => {
    const look = (at: EventTarget | null) => {
      const thing = place.current;
      if (!(at instanceof Element) || !thing) return setIsMakingWay(false);
      const isCovered = at.matches(BOX) && covers(thing, at);
      const isNear = at.closest(WRITING) !== null || thing.contains(at);
      setIsMakingWay((was) => isCovered || (was && isNear));
    };
    const comes = ({ target }: FocusEvent) => look(target);
    const leaves = ({ relatedTarget }: FocusEvent) => look(relatedTarget);
    look(document.activeElement);
    document.addEventListener('focusin', comes);
    document.addEventListener('focusout', leaves);
    return () => {
      document.removeEventListener('focusin', comes);
      document.removeEventListener('focusout', leaves);
    };
  }, [place]);
  return [isMakingWay, () => setIsMakingWay(false)];
}

function covers(thing: Element, other: Element): boolean {
  const [a, b] = [thing.getBoundingClientRect(), other.getBoundingClientRect()];
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
