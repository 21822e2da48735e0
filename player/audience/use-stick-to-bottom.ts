import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** Within this distance the list is at its bottom, px: browsers round scroll positions. */
const TOLERANCE_PX = 24;

/**
 * Keeps the bottom of a list in view as it grows, unless the viewer has scrolled up.
 * @param newest changes when an item is added at the bottom
 */
export function useStickToBottom(list: RefObject<HTMLElement | null>, newest: unknown) {
  const [isAtBottom, setIsAtBottom] = useState(true);
  // A ref changes at once, the state with the next render: in the frame in which the viewer scrolls
  // up, the observer may report a new size.
  const isSticking = useRef(true);
  const toBottom = () => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
    isSticking.current = true;
    setIsAtBottom(true);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is longer when `newest` changes
  useLayoutEffect(() => {
    const element = list.current;
    if (!element || !isAtBottom) return;
    const stick = () => {
      if (isSticking.current) element.scrollTop = element.scrollHeight;
    };
    stick();
    // An on-screen keyboard or a rotation changes the size.
    const observer = new ResizeObserver(stick);
    observer.observe(element);
    return () => observer.disconnect();
  }, [list, newest, isAtBottom]);

  return {
    isAtBottom,
    onScroll: () => {
      const element = list.current;
      if (!element) return;
      const belowPx = element.scrollHeight - element.scrollTop - element.clientHeight;
      isSticking.current = belowPx < TOLERANCE_PX;
      setIsAtBottom(isSticking.current);
    },
    toBottom,
  };
}
