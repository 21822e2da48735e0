import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** So near to the end it is the end, px: browsers round. */
const NEAR_PX = 24;

/**
 * Keeps the end of a list in view as it grows, unless somebody has scrolled up to read.
 * @param newest changes when something comes at the end
 */
export function useNewestInView(
  list: RefObject<HTMLElement | null>,
  newest: unknown,
): { readonly isAtEnd: boolean; onScroll(): void; toEnd(): void } {
  const [isAtEnd, setIsAtEnd] = useState(true);
  // At once, where the state comes with the next rendering: in the frame in which somebody scrolls up,
  // the observer is told of a size, too.
  const isFollowing = useRef(true);
  const toEnd = () => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
    isFollowing.current = true;
    setIsAtEnd(true);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is longer when `newest` is another
  useLayoutEffect(() => {
    const element = list.current;
    if (!element || !isAtEnd) return;
    const end = () => {
      if (isFollowing.current) element.scrollTop = element.scrollHeight;
    };
    end();
    // A keyboard on the screen, a turned phone.
    const observer = new ResizeObserver(end);
    observer.observe(element);
    return () => observer.disconnect();
  }, [list, newest, isAtEnd]);

  return {
    isAtEnd,
    onScroll: () => {
      const element = list.current;
      if (!element) return;
      const belowPx = element.scrollHeight - element.scrollTop - element.clientHeight;
      isFollowing.current = belowPx < NEAR_PX;
      setIsAtEnd(isFollowing.current);
    },
    toEnd,
  };
}
