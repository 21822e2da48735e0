import { type RefObject, useLayoutEffect, useState } from 'react';

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
  const toEnd = () => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
    setIsAtEnd(true);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is longer when `newest` is another
  useLayoutEffect(() => {
    const element = list.current;
    if (!element || !isAtEnd) return;
    const end = () => {
      element.scrollTop = element.scrollHeight;
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
      setIsAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX);
    },
    toEnd,
  };
}
