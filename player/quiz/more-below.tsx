import { type RefObject, useEffect, useRef, useState } from 'react';
import { Icon } from '../icon.tsx';
import { useReducedMotion } from '../reduced-motion.ts';

/** The part of the visible height by which a press scrolls. */
const SCROLLED_SHARE = 0.7;

interface MoreBelowProps {
  /** The element that scrolls. */
  readonly container: RefObject<HTMLElement | null>;
  readonly label: string;
}

/**
 * A button at the bottom of a container while its end is out of view. Screen readers and keyboards
 * need none: they reach what is below by itself.
 */
export function MoreBelow({ container, label }: MoreBelowProps) {
  const end = useRef<HTMLSpanElement>(null);
  const hasMore = useIsOutOfView(end, container);
  const hasReducedMotion = useReducedMotion();
  const scroll = () => {
    const { current } = container;
    current?.scrollBy({
      top: current.clientHeight * SCROLLED_SHARE,
      behavior: hasReducedMotion ? 'instant' : 'smooth',
    });
  };
  return (
    <>
      <span ref={end} className="quiz-end" />
      {hasMore && (
        <span className="quiz-more" aria-hidden="true">
          <button type="button" className="quiz-more-button" tabIndex={-1} onClick={scroll}>
            <Icon name="down" /> {label}
          </button>
        </span>
      )}
    </>
  );
}

function useIsOutOfView(
  element: RefObject<Element | null>,
  container: RefObject<Element | null>,
): boolean {
  const [isOut, setIsOut] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (entries) => setIsOut(entries.at(-1)?.isIntersecting === false),
      { root: container.current },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, container]);
  return isOut;
}
