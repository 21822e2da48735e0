import { useEffect, useRef } from 'react';
import { compact } from '../compact-number.ts';
import { Icon } from '../icon.tsx';
import { useReducedMotion } from '../reduced-motion.ts';
import { FloatingHearts, useFloatingHearts } from './floating-hearts.tsx';

/**
 * Hearts over the video: floating, or with reduced motion as a number.
 * @param hearts all that were on screen, also those repeated after seeking back
 * @param count the hearts since the viewer joined, each counted once
 */
export function HeartOverlay({ hearts, count }: { hearts: number; count: number }) {
  const isReducedMotion = useReducedMotion();
  const floating = useFloatingHearts();
  const previous = useRef(hearts);

  useEffect(() => {
    const added = hearts - previous.current;
    previous.current = hearts;
    // Animations do not run in a hidden page, so the hearts would never end.
    if (!isReducedMotion && !document.hidden) floating.add(added);
  });

  if (!isReducedMotion) {
    return (
      <FloatingHearts
        className="floating--stage"
        hearts={floating.hearts}
        onEnd={floating.remove}
      />
    );
  }
  if (count === 0) return null;
  return (
    <p className="heart-number" aria-hidden="true">
      <Icon name="heart" /> {compact(count)}
    </p>
  );
}
